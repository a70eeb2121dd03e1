//! Tests the comparison by independent means: values and a validator that share no code with it, laws, and the crate
//! `drift`.
//!
//! `ORACLE_CASES` multiplies the number of generated pairs: `ORACLE_CASES=50 cargo test -p checks --test
//! oracle -- --nocapture`. The random numbers are the same in each run.

mod alarms;
mod authors;
mod callbacks;
mod case;
mod drift_crate;
mod edit;
mod generate;
mod instances;
mod judge;
mod keywords;
mod laws;
mod rewrite;
mod shrink;
mod values;
mod widening;
