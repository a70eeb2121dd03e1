//! Requests per second: a bare hyper server, a bare dropshot endpoint, and the service on either database.

use super::command::Plan;
use super::load::{Load, Measured, Request};
use super::postgres::Postgres;
use super::seed;
use super::server::{Programs, Server};
use super::table::{grouped, median, table};

/// How many animals there are before any is added.
const ANIMALS: u64 = 1_000_000;

/// A server, and what it is asked.
struct Contestant {
    server: Server,
    requests: Vec<(&'static str, Request)>,
}

/// Each round loads every server with every request, in turn.
pub(super) fn run(plan: &Plan) -> Result<(), String> {
    let load = Load::new(plan)?;
    let programs = Programs::build()?;
    let postgres = Postgres::start()?;
    println!("bench: {} animals, {} rounds of {:?} a load", grouped(ANIMALS as f64), plan.rounds, plan.time);
    let contestants = contestants(&programs, postgres.as_ref(), plan)?;
    let mut rows: Vec<Row> = contestants.iter().flat_map(Contestant::rows).collect();
    for round in 1..=plan.rounds {
        let mut row = rows.iter_mut();
        for contestant in &contestants {
            for (_, request) in &contestant.requests {
                let measured = load.measure(&contestant.server, request)?;
                row.next().into_iter().for_each(|row| row.rounds.push(measured));
            }
        }
        println!("bench: round {round} of {}", plan.rounds);
    }
    println!("\n{}", shown(&rows));
    Ok(())
}

fn contestants(
    programs: &Programs,
    postgres: Option<&Postgres>,
    plan: &Plan,
) -> Result<Vec<Contestant>, String> {
    let [hyper, dropshot] = programs.bare(&plan.directory)?;
    let hello = || vec![("hello", Request::Path("/".to_owned()))];
    let mut contestants = vec![
        Contestant { server: hyper, requests: hello() },
        Contestant { server: dropshot, requests: hello() },
    ];
    let all = || {
        vec![
            ("get by id", Request::Random(ANIMALS)),
            ("list of 20", Request::Path("/v1/pets".to_owned())),
            ("durable add", Request::Add),
        ]
    };
    let file = plan.directory.join("service.db");
    let database = format!("sqlite:{}", file.display());
    let key = programs.key(&database)?;
    seed::sqlite(&file, ANIMALS)?;
    let server = programs.service("on SQLite", &database, key, &plan.directory.join("on-sqlite"))?;
    contestants.push(Contestant { server, requests: all() });
    if let Some(postgres) = postgres {
        let database = postgres.database();
        let key = programs.key(&database)?;
        postgres.run(&database, &seed::postgres(ANIMALS))?;
        let server =
            programs.service("on PostgreSQL", &database, key, &plan.directory.join("on-postgres"))?;
        contestants.push(Contestant { server, requests: all() });
    }
    Ok(contestants)
}

impl Contestant {
    fn rows(&self) -> impl Iterator<Item = Row> {
        let row =
            |(what, _): &(&'static str, Request)| Row { server: self.server.name, what, rounds: Vec::new() };
        self.requests.iter().map(row)
    }
}

/// One request at one server.
struct Row {
    server: &'static str,
    what: &'static str,
    rounds: Vec<Measured>,
}

impl Row {
    fn median(&self, of: impl Fn(&Measured) -> f64) -> f64 {
        median(self.rounds.iter().map(of))
    }
}

/// Ratios are made round by round, and the median is taken of them.
fn shown(rows: &[Row]) -> String {
    let head = ["server, request", "requests/s", "p99 ms", "server CPU µs/request", "of bare hyper"];
    let mut cells = vec![head.map(str::to_owned).to_vec()];
    let bare = &rows[0].rounds;
    for row in rows {
        let share = median(row.rounds.iter().zip(bare).map(|(mine, bare)| mine.rate / bare.rate));
        cells.push(vec![
            format!("{}, {}", row.server, row.what),
            grouped(row.median(|round| round.rate)),
            format!("{:.1}", row.median(|round| round.p99)),
            format!("{:.1}", row.median(|round| round.processor)),
            format!("{share:.2}"),
        ]);
    }
    table(&cells)
}
