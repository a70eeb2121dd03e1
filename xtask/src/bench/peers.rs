//! Compares the service with servers that offer the same three operations, written with other frameworks as their
//! documentation recommends. They are in `xtask/peers`.
//!
//! All have the same database on SQLite; the service and axum also have one on PostgreSQL. Each commits an addition to disk
//! before the response, checks the API key, and logs each request to a file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use launcher::process::{cargo, status};
use launcher::workspace::{in_file, workspace};

use super::Plan;
use super::callgrind;
use super::instructions::count;
use super::load::{Load, Request, Row};
use super::seed::Postgres;
use super::server::Programs;
use super::table::{grouped, table};
use crate::workspace::copy_directory;
use crate::{packages, process};

/// The number of animals at the start.
const ANIMALS: u64 = 1_000_000;

/// The time limit of an installation.
const INSTALLATION: Duration = Duration::from_secs(600);

/// Measures each operation of each server, and prints the table.
pub(super) fn run(plan: &Plan<'_>) -> Result<(), String> {
    callgrind::available()?;
    let load = Load::new(plan)?;
    let programs = Programs::build()?;
    let postgres = Postgres::start()?;
    let axum = axum(plan)?;
    let mut contenders = Vec::new();
    for (name, peer, is_on_postgres, one_process) in [
        ("Animal Store", None, false, true),
        ("axum", Some(axum.clone()), false, true),
        ("fastify", Some(fastify(plan)?), false, false),
        ("FastAPI", Some(fastapi(plan)?), false, false),
        ("Animal Store on PostgreSQL", None, true, true),
        ("axum on PostgreSQL", Some(axum), true, true),
    ] {
        if postgres.is_some() || !is_on_postgres {
            let postgres = postgres.as_ref().filter(|_| is_on_postgres);
            contenders.push((programs.contender(name, peer, postgres, ANIMALS, plan)?, one_process));
        }
    }
    let servers = contenders.iter().map(|(contender, _)| contender.start(&[]));
    let servers = servers.collect::<Result<Vec<_>, _>>()?;
    let mut rows = Vec::new();
    for (what, request) in Request::operations(ANIMALS) {
        rows.extend(servers.iter().map(|server| Row::new(server, what, request.clone())));
    }
    load.measure(&mut rows)?;
    let mut measured: Vec<Vec<String>> = rows.iter().map(cells).collect();
    drop(rows);
    drop(servers);
    let (launcher, number) = (callgrind::launcher(&plan.directory), contenders.len());
    // callgrind counts one process only.
    for (place, (contender, one_process)) in contenders.iter().enumerate() {
        let server = one_process.then(|| contender.start(&launcher)).transpose()?;
        let rows = measured[place..].iter_mut().step_by(number);
        for ((_, request), row) in Request::operations(ANIMALS).iter().zip(rows) {
            row.push(match &server {
                Some(server) => grouped(count(plan, server, request)?),
                None => "not measured".to_owned(),
            });
        }
    }
    let head = "request, server | requests/s | p99 ms | server CPU µs/request | with PostgreSQL's | user instructions";
    println!("\n{}", table(head, measured.into_iter()));
    Ok(())
}

/// Returns the cells of a row, except the instructions.
fn cells(row: &Row<'_>) -> Vec<String> {
    let [name, rate, p99, processor] = row.cells(&format!("{}, {}", row.what, row.server.name()));
    let all = format!("{:.1}", row.median(|round| round.processor + round.database));
    vec![name, rate, p99, processor, all]
}

/// Builds the peer with axum. Returns its program.
fn axum(plan: &Plan<'_>) -> Result<Vec<PathBuf>, String> {
    println!("bench: building the peer with axum");
    let target = plan.directory.with_file_name("peer-axum");
    let mut build =
        cargo(&["build", "--release", "--locked", "--manifest-path", "xtask/peers/axum/Cargo.toml"]);
    if !status(build.arg("--target-dir").arg(&target))?.success() {
        return Err("the peer with axum does not build; see the errors above".to_owned());
    }
    Ok(vec![target.join("release/peer-axum")])
}

/// Installs the dependencies of the peer with fastify. Returns its program and arguments.
fn fastify(plan: &Plan<'_>) -> Result<Vec<PathBuf>, String> {
    println!("bench: installing the peer with fastify");
    let directory = plan.directory.with_file_name("peer-fastify");
    copy_directory(&workspace().join("xtask/peers/fastify"), &directory)?;
    // better-sqlite3 downloads or compiles its native part in a script of its installation.
    let mut npm = Command::new("npm");
    npm.args(["ci", "--no-audit", "--no-fund"]).current_dir(&directory);
    process::run("npm", &mut npm, &directory, INSTALLATION)
        .map_err(|error| format!("{error}; on Debian: apt-get install nodejs npm"))?;
    Ok(vec!["node".into(), directory.join("server.js")])
}

/// Installs the dependencies of the peer with FastAPI. Returns its program and arguments.
fn fastapi(plan: &Plan<'_>) -> Result<Vec<PathBuf>, String> {
    println!("bench: installing the peer with FastAPI");
    let directory = plan.directory.with_file_name("peer-fastapi");
    fs::create_dir_all(&directory).map_err(in_file(&directory))?;
    let (source, venv) = (workspace().join("xtask/peers/fastapi"), directory.join("venv"));
    let requirements = source.join("requirements.txt");
    packages::python(Path::new("python3"), &venv, &requirements, &directory, INSTALLATION)?;
    // -B: no compiled modules beside the sources.
    Ok(vec![venv.join("bin/python"), "-B".into(), source.join("server.py")])
}
