//! The calculations of `cargo xtask bench`.

use lab::bench::callgrind::total;
use lab::bench::instructions::{Table, compare};
use lab::bench::table::{grouped, median};

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

#[test]
fn only_figures_that_are_worse_by_more_than_two_percent_are_named() {
    let table = |instructions| Table::from([("get".to_owned(), instructions)]);
    let worse = |instructions| compare(&table(1000.0), &table(instructions));
    for instructions in [1000.0, 1020.0, 500.0] {
        assert_eq!(worse(instructions), Default::default(), "{instructions}");
    }
    let message = "get: 1021 user instructions instead of 1000, 2.1% more";
    assert_eq!(worse(1021.0), (vec![message.to_owned()], Vec::new()));
}

#[test]
fn rows_that_one_table_lacks_are_named_and_are_not_worse() {
    let table = |row: &str, instructions| Table::from([(row.to_owned(), instructions)]);
    let (worse, missing) = compare(&table("old", 1.0), &table("new", 9.0));
    assert_eq!(worse, Vec::<String>::new());
    let expected = [
        "new: was measured, but is not in the committed table",
        "old: in the committed table, but was not measured",
    ];
    assert_eq!(missing, expected);
}

#[test]
fn the_total_of_a_profile_is_read() {
    let profile =
        "events: Ir\nsummary: 1\nfn=(1) main\n16 400\ncfn=(2) malloc\ncalls=7 0\n16 210\ntotals: 809\n";
    assert_eq!(total(profile), Some(809.0));
    assert_eq!(total("fn=(1) main\n16 400\n"), None);
}
