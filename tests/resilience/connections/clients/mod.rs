//! Clients of the service: hostile ones, and good ones beside them.

pub mod frames;
pub mod good;
pub mod hostile;
