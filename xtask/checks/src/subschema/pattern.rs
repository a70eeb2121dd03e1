//! Patterns (ECMA 262) as sets of strings.
//!
//! Two patterns are compared by automaton if both are regular and have the same meaning in the syntax of the crate
//! `regex`. Everything else is undecided: lookaround, back references, word boundaries, Unicode classes.

use std::collections::{HashMap, HashSet};

use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};
use regex_syntax::ast::{self, AssertionKind, Ast, ClassPerlKind, ClassSetItem, Visitor};
use regex_syntax::hir::{self, Hir};

/// The limit of bytes of one automaton.
const MAX_BYTES: usize = 1 << 20;
/// The limit of automata of a document.
const MAX_AUTOMATA: usize = 1_000;
/// The limit of states of two automata together.
const MAX_STATES: usize = 50_000;

type Dfa = dense::DFA<Vec<u32>>;

/// Patterns, each compiled once.
#[derive(Default)]
pub(crate) struct Patterns {
    automata: HashMap<String, Option<Dfa>>,
    included: HashMap<(String, String), bool>,
    disjoint: HashMap<(String, String), bool>,
    matchers: HashMap<String, Option<regress::Regex>>,
}

impl Patterns {
    /// Whether the pattern matches in the text; `None` if it is invalid.
    pub(crate) fn matches(&mut self, pattern: &str, text: &str) -> Option<bool> {
        let matcher = self.matchers.entry(pattern.to_owned());
        let matcher = matcher.or_insert_with(|| regress::Regex::with_flags(pattern, "u").ok());
        Some(matcher.as_ref()?.find(text).is_some())
    }

    /// Whether every string that matches the narrow pattern also matches the wide one. `false` if that is undecided.
    pub(crate) fn includes(&mut self, wide: &str, narrow: &str) -> bool {
        if wide == narrow {
            return true;
        }
        let key = (wide.to_owned(), narrow.to_owned());
        if let Some(known) = self.included.get(&key) {
            return *known;
        }
        let included = self.search(narrow, wide, |narrow, wide| narrow && !wide) == Some(false);
        self.included.insert(key, included);
        included
    }

    /// Whether no string matches both patterns. `false` if that is undecided.
    pub(crate) fn are_disjoint(&mut self, one: &str, other: &str) -> bool {
        if one == other {
            return false;
        }
        let key = (one.to_owned(), other.to_owned());
        if let Some(known) = self.disjoint.get(&key) {
            return *known;
        }
        let disjoint = self.search(one, other, |one, other| one && other) == Some(false);
        self.disjoint.insert(key, disjoint);
        disjoint
    }

    /// Whether the pattern matches every string.
    pub(crate) fn is_universal(&mut self, pattern: &str) -> bool {
        self.includes(pattern, "")
    }

    /// Whether a string exists whose matches satisfy the condition; `None` if that is undecided.
    fn search(&mut self, one: &str, other: &str, wanted: impl Fn(bool, bool) -> bool) -> Option<bool> {
        for pattern in [one, other] {
            if !self.automata.contains_key(pattern) {
                let may_build = self.automata.len() < MAX_AUTOMATA;
                let automaton = may_build.then(|| automaton(pattern)).flatten();
                self.automata.insert(pattern.to_owned(), automaton);
            }
        }
        let (one, other) = (self.automata[one].as_ref()?, self.automata[other].as_ref()?);
        let begin = start::Config::new().anchored(Anchored::Yes);
        let begin = (one.start_state(&begin).ok()?, other.start_state(&begin).ok()?);
        let ends = |dfa: &Dfa, state: StateID| dfa.is_match_state(dfa.next_eoi_state(state));
        let mut seen: HashSet<(StateID, StateID)> = HashSet::from([begin]);
        let mut open = vec![begin];
        while let Some((left, right)) = open.pop() {
            if wanted(ends(one, left), ends(other, right)) {
                return Some(true);
            }
            if seen.len() > MAX_STATES || one.is_quit_state(left) || other.is_quit_state(right) {
                return None;
            }
            for byte in 0..=u8::MAX {
                let next = (one.next_state(left, byte), other.next_state(right, byte));
                // The string must match at least `one`, so states from which `one` cannot match are skipped.
                if !one.is_dead_state(next.0) && seen.insert(next) {
                    open.push(next);
                }
            }
        }
        Some(false)
    }
}

/// Returns an automaton that accepts each text in which the pattern matches somewhere.
fn automaton(pattern: &str) -> Option<Dfa> {
    let any = || {
        Hir::repetition(hir::Repetition {
            min: 0,
            max: None,
            greedy: true,
            sub: Box::new(Hir::dot(hir::Dot::AnyChar)),
        })
    };
    let whole = Hir::concat(vec![any(), translated(pattern)?, any()]);
    let nfa =
        thompson::Config::new().nfa_size_limit(Some(MAX_BYTES)).which_captures(thompson::WhichCaptures::None);
    let nfa = thompson::Compiler::new().configure(nfa).build_from_hir(&whole).ok()?;
    let dfa = dense::Config::new()
        .match_kind(MatchKind::All)
        .start_kind(StartKind::Anchored)
        .dfa_size_limit(Some(MAX_BYTES))
        .determinize_size_limit(Some(MAX_BYTES));
    dense::Builder::new().configure(dfa).build_from_nfa(&nfa).ok()
}

/// Translates the pattern from ECMA 262. `None` for constructs that the crate `regex` does not have, or not with this
/// meaning.
fn translated(pattern: &str) -> Option<Hir> {
    let parsed = ast::parse::Parser::new().parse(pattern).ok()?;
    let mut replaced = ast::visit(&parsed, Translation::default()).ok()?;
    replaced.sort_by_key(|(span, _)| span.start.offset);
    let mut translated = pattern.to_owned();
    for (span, class) in replaced.iter().rev() {
        translated.replace_range(span.start.offset..span.end.offset, class);
    }
    regex_syntax::parse(&translated).ok()
}

/// The places whose meaning differs in the crate `regex`, each with a class that has the meaning there.
#[derive(Default)]
struct Translation(Vec<(ast::Span, String)>);

impl Translation {
    /// `\d`, `\s` and `\w` (ECMA 262, CharacterClassEscape).
    fn perl(&mut self, perl: &ast::ClassPerl) {
        let members = match perl.kind {
            ClassPerlKind::Digit => "0-9",
            ClassPerlKind::Word => "0-9A-Z_a-z",
            ClassPerlKind::Space => {
                r"\t-\r \u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}"
            }
        };
        self.0.push((perl.span, format!("[{}{members}]", if perl.negated { "^" } else { "" })));
    }
}

impl Visitor for Translation {
    type Output = Vec<(ast::Span, String)>;
    type Err = ();

    fn finish(self) -> Result<Self::Output, ()> {
        Ok(self.0)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), ()> {
        match ast {
            Ast::Dot(span) => self.0.push((**span, r"[^\n\r\u{2028}\u{2029}]".to_owned())),
            Ast::ClassPerl(perl) => self.perl(perl),
            Ast::Assertion(it) if !matches!(it.kind, AssertionKind::StartLine | AssertionKind::EndLine) => {
                return Err(());
            }
            Ast::Group(group) if group.flags().is_some_and(|flags| !flags.items.is_empty()) => {
                return Err(());
            }
            Ast::Flags(_) | Ast::ClassUnicode(_) => return Err(()),
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), ()> {
        match item {
            ClassSetItem::Perl(perl) => self.perl(perl),
            ClassSetItem::Ascii(_) | ClassSetItem::Unicode(_) | ClassSetItem::Bracketed(_) => return Err(()),
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_binary_op_pre(&mut self, _: &ast::ClassSetBinaryOp) -> Result<(), ()> {
        Err(())
    }
}
