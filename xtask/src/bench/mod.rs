//! What the speed of the commands is measured with.

pub mod generate;
