//! `/v1`.

mod pets;
