//! Measures requests per second of a bare hyper server, a bare dropshot endpoint, and the service on both databases.

use super::Plan;
use super::load::{Load, Request, Row};
use super::seed::Postgres;
use super::server::Programs;
use super::table::{grouped, table};

/// The number of animals at the start.
const ANIMALS: u64 = 1_000_000;

/// Measures each request to each server, and prints the table.
pub(super) fn run(plan: &Plan<'_>) -> Result<(), String> {
    let load = Load::new(plan)?;
    let programs = Programs::build()?;
    let postgres = Postgres::start()?;
    println!("bench: {} animals, {} s a load", grouped(ANIMALS as f64), plan.options.seconds);
    let contenders = programs.contenders(ANIMALS, postgres.as_ref(), plan)?;
    let servers = contenders.iter().map(|contender| contender.start(&[])).collect::<Result<Vec<_>, _>>()?;
    let mut rows = Vec::new();
    for server in &servers {
        let requests = Request::of(server, ANIMALS).into_iter();
        rows.extend(requests.map(|(what, request)| Row::new(server, what, request)));
    }
    load.measure(&mut rows)?;
    let cells = |row: &Row<'_>| {
        let share = format!("{:.2}", row.share_of(&rows[0]));
        [&row.cells(&format!("{}, {}", row.server.name(), row.what))[..], &[share]].concat()
    };
    let head = "server, request | requests/s | p99 ms | server CPU µs/request | of bare hyper";
    println!("\n{}", table(head, rows.iter().map(cells)));
    Ok(())
}
