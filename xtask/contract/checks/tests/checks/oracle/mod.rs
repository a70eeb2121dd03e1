//! Tests the comparison by independent means: values and a validator that share no code with it, laws, and the crate
//! `drift`.
//!
//! `STORE_TESTS_LONG=1` generates more pairs, and `--nocapture` prints their numbers. The random numbers are the same in
//! each run.

mod alarms;
mod authors;
mod callbacks;
pub(crate) mod case;
mod drift_crate;
mod edit;
pub(crate) mod generate;
mod instances;
mod judge;
mod keywords;
mod laws;
mod rewrite;
mod shrink;
mod values;
mod widening;
