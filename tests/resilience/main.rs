//! Faults of the machine, hostile clients and requests, and histories of random clients, each against the running program.

#![allow(unreachable_pub)] // A test binary has no public API.

mod connections;
mod faults;
mod history;
mod hostile;
mod row;
