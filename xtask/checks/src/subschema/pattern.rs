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
use regex_syntax::ast::{
    self, AssertionKind, Ast, ClassPerlKind, ClassSet, ClassSetItem, RepetitionKind, RepetitionRange,
};
use regex_syntax::hir::{self, ClassUnicode, ClassUnicodeRange, Hir};

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
    let parsed = ast::parse::Parser::new().parse(pattern).ok()?;
    let whole = Hir::concat(vec![any(), translated(&parsed)?, any()]);
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

/// Translates the pattern from ECMA 262. `None` for constructs that have another meaning in the crate `regex`.
fn translated(pattern: &Ast) -> Option<Hir> {
    Some(match pattern {
        Ast::Empty(_) => Hir::empty(),
        Ast::Literal(literal) => Hir::literal(literal.c.to_string().into_bytes()),
        Ast::Dot(_) => class(negated(['\n', '\r', '\u{2028}', '\u{2029}'].map(|c| (c, c)))),
        Ast::ClassPerl(perl) => class(perl_class(perl)),
        Ast::ClassBracketed(bracketed) => class(bracketed_class(bracketed)?),
        Ast::Assertion(assertion) => Hir::look(match assertion.kind {
            AssertionKind::StartLine => hir::Look::Start,
            AssertionKind::EndLine => hir::Look::End,
            _ => return None,
        }),
        Ast::Repetition(repetition) => {
            let (min, max) = match &repetition.op.kind {
                RepetitionKind::ZeroOrOne => (0, Some(1)),
                RepetitionKind::ZeroOrMore => (0, None),
                RepetitionKind::OneOrMore => (1, None),
                RepetitionKind::Range(RepetitionRange::Exactly(count)) => (*count, Some(*count)),
                RepetitionKind::Range(RepetitionRange::AtLeast(min)) => (*min, None),
                RepetitionKind::Range(RepetitionRange::Bounded(min, max)) => (*min, Some(*max)),
            };
            let sub = Box::new(translated(&repetition.ast)?);
            Hir::repetition(hir::Repetition { min, max, greedy: true, sub })
        }
        Ast::Group(group) if group.flags().is_none_or(|flags| flags.items.is_empty()) => {
            translated(&group.ast)?
        }
        Ast::Concat(concat) => Hir::concat(concat.asts.iter().map(translated).collect::<Option<_>>()?),
        Ast::Alternation(either) => {
            Hir::alternation(either.asts.iter().map(translated).collect::<Option<_>>()?)
        }
        Ast::Group(_) | Ast::Flags(_) | Ast::ClassUnicode(_) => return None,
    })
}

fn class(class: ClassUnicode) -> Hir {
    Hir::class(hir::Class::Unicode(class))
}

fn ranges<const N: usize>(ranges: [(char, char); N]) -> ClassUnicode {
    ClassUnicode::new(ranges.map(|(first, last)| ClassUnicodeRange::new(first, last)))
}

fn negated<const N: usize>(excluded: [(char, char); N]) -> ClassUnicode {
    let mut class = ranges(excluded);
    class.negate();
    class
}

/// `\d`, `\s` and `\w` (ECMA 262, CharacterClassEscape).
fn perl_class(perl: &ast::ClassPerl) -> ClassUnicode {
    let mut class = match perl.kind {
        ClassPerlKind::Digit => ranges([('0', '9')]),
        ClassPerlKind::Word => ranges([('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]),
        ClassPerlKind::Space => ranges([
            ('\t', '\r'),
            (' ', ' '),
            ('\u{a0}', '\u{a0}'),
            ('\u{1680}', '\u{1680}'),
            ('\u{2000}', '\u{200a}'),
            ('\u{2028}', '\u{2029}'),
            ('\u{202f}', '\u{202f}'),
            ('\u{205f}', '\u{205f}'),
            ('\u{3000}', '\u{3000}'),
            ('\u{feff}', '\u{feff}'),
        ]),
    };
    if perl.negated {
        class.negate();
    }
    class
}

fn bracketed_class(bracketed: &ast::ClassBracketed) -> Option<ClassUnicode> {
    let ClassSet::Item(items) = &bracketed.kind else { return None };
    let items = match items {
        ClassSetItem::Union(union) => union.items.as_slice(),
        item => std::slice::from_ref(item),
    };
    let mut class = ClassUnicode::empty();
    for item in items {
        class.union(&match item {
            ClassSetItem::Empty(_) => ClassUnicode::empty(),
            ClassSetItem::Literal(literal) => ranges([(literal.c, literal.c)]),
            ClassSetItem::Range(range) => ranges([(range.start.c, range.end.c)]),
            ClassSetItem::Perl(perl) => perl_class(perl),
            _ => return None,
        });
    }
    if bracketed.negated {
        class.negate();
    }
    Some(class)
}
