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
use launcher::serve::launched;
use launcher::workspace::{in_file, workspace};

use super::Plan;
use super::callgrind;
use super::instructions::count;
use super::load::{Load, Request, Row};
use super::seed::Postgres;
use super::server::{Programs, Server, Store};
use super::table::{grouped, table};
use crate::workspace::copy_directory;
use crate::{packages, process};

/// The number of animals at the start.
const ANIMALS: u64 = 1_000_000;

/// The time limit of an installation.
const INSTALLATION: Duration = Duration::from_secs(600);

/// A compared server.
struct Contender {
    name: &'static str,
    store: Store,
    /// Program and arguments, before the place of the database; `None` for the service.
    peer: Option<(PathBuf, Vec<PathBuf>)>,
    /// Whether callgrind can count its instructions: it counts one process only.
    one_process: bool,
}

impl Contender {
    fn start(&self, programs: &Programs, launcher: &[String]) -> Result<Server, String> {
        let Some((program, arguments)) = &self.peer else {
            let mut service = programs.serve(&self.store, launcher)?;
            service.name = self.name;
            return Ok(service);
        };
        let mut command = launched(program, launcher);
        command.args(arguments).arg(self.store.place());
        Server::start(self.name, &mut command, &self.store)
    }

    /// Returns the user instructions of each operation.
    fn instructions(
        &self,
        plan: &Plan<'_>,
        programs: &Programs,
        is_counted: bool,
    ) -> Result<[Option<f64>; 3], String> {
        if !(is_counted && self.one_process) {
            return Ok([None; 3]);
        }
        let server = self.start(programs, &callgrind::launcher(&plan.directory))?;
        let mut figures = [None; 3];
        for ((_, request), figure) in Request::operations(ANIMALS).iter().zip(&mut figures) {
            *figure = Some(count(plan, &server, request)?.user);
        }
        Ok(figures)
    }
}

/// Measures each operation of each server, and prints the table.
pub(super) fn run(plan: &Plan<'_>) -> Result<(), String> {
    let load = Load::new(plan)?;
    let is_counted = callgrind::available().inspect_err(|missing| println!("bench: {missing}")).is_ok();
    let programs = Programs::build()?;
    let postgres = Postgres::start()?;
    let axum = axum(plan)?;
    let peers = [
        ("Animal Store", None, true),
        ("axum", Some(axum.clone()), true),
        ("fastify", Some(fastify(plan)?), false),
        ("FastAPI", Some(fastapi(plan)?), false),
    ];
    let mut contenders = Vec::new();
    for (name, peer, one_process) in peers {
        contenders.push(Contender { name, store: programs.sqlite(name, ANIMALS, plan)?, peer, one_process });
    }
    let peers = [("Animal Store on PostgreSQL", None), ("axum on PostgreSQL", Some(axum))];
    if let Some(postgres) = &postgres {
        for (name, peer) in peers {
            let store = programs.postgres(name, postgres, ANIMALS, plan)?;
            contenders.push(Contender { name, store, peer, one_process: true });
        }
    }
    let servers = contenders.iter().map(|contender| contender.start(&programs, &[]));
    let servers = servers.collect::<Result<Vec<_>, _>>()?;
    let mut rows = Vec::new();
    for (what, request) in Request::operations(ANIMALS) {
        rows.extend(servers.iter().map(|server| Row::new(server, what, request.clone())));
    }
    load.measure(&mut rows)?;
    let mut measured: Vec<Vec<String>> = rows.iter().map(cells).collect();
    drop(rows);
    drop(servers);
    for (place, contender) in contenders.iter().enumerate() {
        let figures = contender.instructions(plan, &programs, is_counted)?;
        for (operation, figure) in figures.into_iter().enumerate() {
            measured[operation * contenders.len() + place]
                .push(figure.map_or_else(|| "not measured".to_owned(), grouped));
        }
    }
    let head = "request, server | requests/s | p99 ms | server CPU µs/request | with PostgreSQL's | user instructions";
    println!("\n{}", table(head, measured.into_iter()));
    Ok(())
}

/// Returns the cells of a row, except the instructions.
fn cells(row: &Row<'_>) -> Vec<String> {
    vec![
        format!("{}, {}", row.what, row.server.name),
        grouped(row.median(|round| round.rate)),
        format!("{:.1}", row.median(|round| round.p99)),
        format!("{:.1}", row.median(|round| round.processor)),
        format!("{:.1}", row.median(|round| round.processor + round.database)),
    ]
}

/// Builds the peer with axum. Returns its program.
fn axum(plan: &Plan<'_>) -> Result<(PathBuf, Vec<PathBuf>), String> {
    println!("bench: building the peer with axum");
    let target = plan.directory.with_file_name("peer-axum");
    let mut build =
        cargo(&["build", "--release", "--locked", "--manifest-path", "xtask/peers/axum/Cargo.toml"]);
    if !status(build.arg("--target-dir").arg(&target))?.success() {
        return Err("the peer with axum does not build; see the errors above".to_owned());
    }
    Ok((target.join("release/peer-axum"), Vec::new()))
}

/// Installs the dependencies of the peer with fastify. Returns its program and arguments.
fn fastify(plan: &Plan<'_>) -> Result<(PathBuf, Vec<PathBuf>), String> {
    println!("bench: installing the peer with fastify");
    let directory = plan.directory.with_file_name("peer-fastify");
    copy_directory(&workspace().join("xtask/peers/fastify"), &directory)?;
    // better-sqlite3 downloads or compiles its native part in a script of its installation.
    let mut npm = Command::new("npm");
    npm.args(["ci", "--no-audit", "--no-fund"]).current_dir(&directory);
    process::run("npm", &mut npm, &directory, INSTALLATION)
        .map_err(|error| format!("{error}; on Debian: apt-get install nodejs npm"))?;
    Ok(("node".into(), vec![directory.join("server.js")]))
}

/// Installs the dependencies of the peer with FastAPI. Returns its program and arguments.
fn fastapi(plan: &Plan<'_>) -> Result<(PathBuf, Vec<PathBuf>), String> {
    println!("bench: installing the peer with FastAPI");
    let directory = plan.directory.with_file_name("peer-fastapi");
    fs::create_dir_all(&directory).map_err(in_file(&directory))?;
    let (source, venv) = (workspace().join("xtask/peers/fastapi"), directory.join("venv"));
    let requirements = source.join("requirements.txt");
    packages::python(Path::new("python3"), &venv, &requirements, &directory, INSTALLATION)?;
    // -B: no compiled modules beside the sources.
    Ok((venv.join("bin/python"), vec!["-B".into(), source.join("server.py")]))
}
