//! What is run at night and before a release: measurements, faults, fuzzing, third-party tools, and the archive.

pub mod bench;
pub mod dist;
pub mod faults;
pub mod fuzz;
pub mod interop;
mod packages;
