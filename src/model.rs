//! What the models of several modules share: it runs a test through every order of events. Compiled for tests only.

/// The decisions of a run. The next run takes the next branch of the last decision that has one.
#[derive(Default)]
pub(crate) struct Decisions {
    taken: Vec<(usize, usize)>,
    next: usize,
}

impl Decisions {
    /// Returns one of these; in another run, another one.
    pub(crate) fn choose<T: Copy>(&mut self, among: &[T]) -> T {
        if self.next == self.taken.len() {
            self.taken.push((0, among.len()));
        }
        let (choice, count) = self.taken[self.next];
        assert_eq!(count, among.len(), "the same decisions lead to the same state");
        self.next += 1;
        among[choice]
    }

    /// Prepares the next run. Returns `false` if there is none.
    fn advance(&mut self) -> bool {
        self.next = 0;
        while let Some((choice, count)) = self.taken.pop() {
            if choice + 1 < count {
                self.taken.push((choice + 1, count));
                return true;
            }
        }
        false
    }
}

/// Runs `run` once for each combination of decisions, which it returns. Returns the number of runs.
pub(crate) fn explore(mut run: impl FnMut(Decisions) -> Decisions) -> usize {
    let (mut decisions, mut runs) = (Decisions::default(), 0);
    loop {
        decisions = run(decisions);
        runs += 1;
        if !decisions.advance() {
            return runs;
        }
    }
}

#[test]
fn every_combination_of_decisions_is_made_once() {
    let mut made = Vec::new();
    let runs = explore(|mut decisions| {
        let first = decisions.choose(&["a", "b"]);
        let second = if first == "a" { decisions.choose(&["c", "d", "e"]) } else { "" };
        made.push((first, second));
        decisions
    });
    assert_eq!((runs, made), (4, vec![("a", "c"), ("a", "d"), ("a", "e"), ("b", "")]));
}
