//! The calculations of `cargo xtask bench`.

use xtask::bench::baseline::{self, Figures, Table, compare};
use xtask::bench::profile::{self, Profile};
use xtask::bench::table::{grouped, median};

#[test]
fn a_median_is_in_the_middle() {
    assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
    assert_eq!(median([4.0, 1.0, 2.0, 3.0]), 2.5);
    assert_eq!(median([]), 0.0);
}

#[test]
fn thousands_are_separated() {
    assert_eq!([0.0, 999.4, 1000.0, 1_234_567.0].map(grouped), ["0", "999", "1,000", "1,234,567"]);
}

fn figures(user: f64, allocations: f64) -> Figures {
    Figures { user, allocations }
}

#[test]
fn only_figures_that_are_worse_by_more_than_two_percent_are_named() {
    let committed = Table::from([("get".to_owned(), figures(1000.0, 50.0))]);
    let worse = |user, allocations| {
        let measured = Table::from([("get".to_owned(), figures(user, allocations))]);
        let difference = compare(&committed, &measured);
        assert_eq!(difference.missing, Vec::<String>::new());
        difference.worse
    };
    for (user, allocations) in [(1000.0, 50.0), (1020.0, 51.0), (500.0, 1.0)] {
        assert_eq!(worse(user, allocations), Vec::<String>::new(), "{user} {allocations:?}");
    }
    assert_eq!(worse(1021.0, 50.0), ["get: 1021 user instructions instead of 1000, 2.1% more"]);
    assert_eq!(worse(900.0, 60.0), ["get: 60 allocations instead of 50, 20.0% more"]);
}

#[test]
fn rows_that_one_table_lacks_are_named_and_are_not_worse() {
    let committed = Table::from([("old".to_owned(), figures(1.0, 1.0))]);
    let measured = Table::from([("new".to_owned(), figures(9.0, 1.0))]);
    let difference = compare(&committed, &measured);
    assert_eq!(difference.worse, Vec::<String>::new());
    let missing = [
        "new: was measured, but is not in the committed table",
        "old: in the committed table, but was not measured",
    ];
    assert_eq!(difference.missing, missing);
}

#[test]
fn a_written_table_is_read_again() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("table.toml");
    let table = Table::from([
        ("on SQLite, get by id".to_owned(), figures(47_086.0, 61.5)),
        ("bare-hyper, hello".to_owned(), figures(6_500.0, 4.0)),
    ]);
    baseline::write(&file, &table).unwrap();
    assert_eq!(baseline::read(&file), Ok(table));
}

#[test]
fn a_profile_is_summed_and_calls_within_an_allocator_are_not_counted() {
    let text = "events: Ir\n\
                fn=(1) main\n16 400\n\
                cfn=(2) mi_malloc_aligned\ncalls=7 0\n16 210\n\
                cfn=(3) malloc\ncalls=2 0\n16 20\n\
                cfn=(4) mi_free\ncalls=9 0\n16 90\n\
                fn=(5) mi_realloc_aligned\n20 8\n\
                cfn=(2)\ncalls=5 0\n20 50\n\
                fn=(6) other\n1 1\n\
                cfn=(2)\ncalls=1 0\n1 30\n\
                totals: 809\n";
    assert_eq!(profile::read(text), Ok(Profile { instructions: 809, allocations: 10 }));
    assert!(profile::read("fn=(1) main\n").unwrap_err().contains("no total"));
    assert!(profile::read("fn=(1)\ntotals: 1\n").unwrap_err().contains("(1) has no name"));
}
