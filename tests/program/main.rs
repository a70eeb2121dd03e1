//! Tests of the program: output, exit status, signals, TLS, replicas and crashes; and of the layers of its sources and the
//! generator of the typed client.
//!
//! `kit::program` runs the program. Its recorder checks all HTTP responses, as in the other tests.

#![allow(unreachable_pub)] // A test binary has no public API.

mod access_log;
mod activation;
mod alerts;
mod check_config;
mod config;
mod container;
mod deployment;
mod files;
mod generate;
mod generator;
mod keys;
mod layers;
mod ops;
mod outage;
mod outage_log;
mod pgbouncer;
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
mod waiting;
