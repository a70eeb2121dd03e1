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
    let bare = [programs.bare("bare-hyper", plan, &[])?, programs.bare("bare-dropshot", plan, &[])?];
    let mut services = vec![programs.serve(&programs.sqlite("animals", ANIMALS, plan)?, &[])?];
    if let Some(postgres) = &postgres {
        services.push(programs.serve(&programs.postgres("postgres", postgres, ANIMALS, plan)?, &[])?);
    }
    let mut rows = Vec::new();
    for server in &bare {
        rows.push(Row::new(server, "hello", Request::Path("/".to_owned())));
    }
    for server in &services {
        rows.extend(Request::of_this_service(ANIMALS).map(|(what, request)| Row::new(server, what, request)));
    }
    load.measure(&mut rows)?;
    let cells = |row: &Row<'_>| {
        vec![
            format!("{}, {}", row.server.name, row.what),
            grouped(row.median(|round| round.rate)),
            format!("{:.1}", row.median(|round| round.p99)),
            format!("{:.1}", row.median(|round| round.processor)),
            format!("{:.2}", row.share_of(&rows[0])),
        ]
    };
    let head = "server, request | requests/s | p99 ms | server CPU µs/request | of bare hyper";
    println!("\n{}", table(head, rows.iter().map(cells)));
    Ok(())
}
