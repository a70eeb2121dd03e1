//! The program itself: the real binary, its output, its exit status, its signals, and `kill -9`.
//!
//! `program.rs` is the harness. What goes over HTTP here is judged by the same recorder as elsewhere.

#![allow(unreachable_pub)] // Nothing outside a test binary could reach anything.

#[path = "../recorder/mod.rs"]
#[allow(dead_code)] // The tests over HTTP use the rest.
mod recorder;

#[path = "../postgres_cluster/mod.rs"]
mod postgres_cluster;
mod program;

mod access_log;
mod config;
mod crash;
mod keys;
mod ops;
mod outage;
mod refusals;
mod refused_servers;
mod replicas;
mod restart;
mod serve;
mod signals;
mod tls;
mod transfer;
