//! Tests of the program: output, exit status, signals, and crashes.
//!
//! `program.rs` runs the program. The recorder checks all HTTP responses, as in the other tests.

#![allow(unreachable_pub)] // A test binary has no public API.

#[path = "../recorder/mod.rs"]
#[allow(dead_code)] // Tests over HTTP use the rest.
mod recorder;

#[path = "../postgres_cluster/mod.rs"]
mod postgres_cluster;
mod program;

mod access_log;
mod activation;
mod check_config;
mod config;
mod crash;
mod deployment;
mod generate;
mod keys;
mod ops;
mod outage;
mod outage_log;
mod postgres_startup_errors;
mod replicas;
mod restart;
mod restore;
mod runbook;
mod serve;
mod signals;
mod startup_errors;
mod tls;
mod transfer;
