//! The calculations of `cargo xtask bench`.

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
