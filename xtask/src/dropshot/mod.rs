//! The code's side of the comparison: what the running code says, and where in its source it says so.

pub mod served;
pub mod source;
