//! The three operations of the service with axum and sqlx. The database is one that the service created.
//!
//! Argument: the file of a database on SQLite, or the URL of one on PostgreSQL.

use std::collections::HashSet;
use std::error::Error;
use std::sync::Arc;

use axum::extract::{Path, Query, Request, State};
use axum::http::header::{AUTHORIZATION, LINK, LOCATION};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{FromRow, PgPool, SqlitePool};
use tokio::net::TcpListener;
use tower_http::trace::{DefaultMakeSpan, DefaultOnResponse, TraceLayer};
use tracing::Level;

#[derive(Clone)]
struct App {
    database: Database,
    /// The SHA-256 of the keys.
    keys: Arc<HashSet<Vec<u8>>>,
}

#[derive(Clone)]
enum Database {
    /// SQLite has one writer at a time; more connections would wait for its lock by polling.
    Sqlite { readers: SqlitePool, writer: SqlitePool },
    Postgres(PgPool),
}

/// Executes a query with one of the pools, since the types of sqlx depend on the database.
macro_rules! execute {
    ($app:expr, $pool:ident, $method:ident, $query:expr) => {
        match &$app.database {
            Database::Sqlite { $pool, .. } => $query.$method($pool).await,
            Database::Postgres(pool) => $query.$method(pool).await,
        }
    };
}

#[derive(Clone, Copy, Deserialize, Serialize, sqlx::Type)]
#[serde(rename_all = "snake_case")]
#[sqlx(rename_all = "snake_case", type_name = "text")]
enum Status {
    Available,
    Pending,
    Sold,
}

#[derive(Serialize, FromRow)]
#[serde(rename_all = "camelCase")]
struct Pet {
    id: i64,
    name: String,
    category_id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewPet {
    name: String,
    category_id: i64,
    status: Option<Status>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    limit: Option<i64>,
    /// The last identifier of the previous page.
    cursor: Option<i64>,
}

/// An error as a response.
struct Failure(StatusCode);

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        tracing::error!(%error, "database");
        Self(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        #[derive(Serialize)]
        struct Body {
            status: u16,
            message: &'static str,
        }
        let message = self.0.canonical_reason().unwrap_or_default();
        (self.0, Json(Body { status: self.0.as_u16(), message })).into_response()
    }
}

async fn get_pet(State(app): State<App>, Path(id): Path<i64>) -> Result<Json<Pet>, Failure> {
    let select = "SELECT id, name, category_id, status FROM animal WHERE id = $1";
    let found = execute!(app, readers, fetch_optional, sqlx::query_as(select).bind(id))?;
    found.map(Json).ok_or(Failure(StatusCode::NOT_FOUND))
}

async fn list_pets(State(app): State<App>, Query(page): Query<Page>) -> Result<Response, Failure> {
    let limit = page.limit.unwrap_or(20);
    if !(1..=100).contains(&limit) {
        return Err(Failure(StatusCode::BAD_REQUEST));
    }
    let select = "SELECT id, name, category_id, status FROM animal WHERE id > $1 ORDER BY id LIMIT $2";
    let after = page.cursor.unwrap_or(0);
    let pets: Vec<Pet> = execute!(app, readers, fetch_all, sqlx::query_as(select).bind(after).bind(limit))?;
    let next = pets.last().filter(|_| pets.len() as i64 == limit);
    let link = next.map(|last| format!("</v1/pets?limit={limit}&cursor={}>; rel=\"next\"", last.id));
    Ok(match link {
        Some(link) => ([(LINK, link)], Json(pets)).into_response(),
        None => Json(pets).into_response(),
    })
}

async fn add_pet(State(app): State<App>, Json(pet): Json<NewPet>) -> Result<Response, Failure> {
    if !(1..=255).contains(&pet.name.chars().count()) || pet.name.contains('\0') {
        return Err(Failure(StatusCode::BAD_REQUEST));
    }
    let insert = match app.database {
        Database::Sqlite { .. } => {
            "INSERT INTO animal (name, category_id, status) VALUES ($1, $2, $3)
             RETURNING id, name, category_id, status"
        }
        Database::Postgres(_) => {
            "INSERT INTO animal (id, name, category_id, status) VALUES (nextval('animal_id'), $1, $2, $3)
             RETURNING id, name, category_id, status"
        }
    };
    let insert = execute!(
        app,
        writer,
        fetch_one,
        sqlx::query_as(insert).bind(pet.name).bind(pet.category_id).bind(pet.status)
    );
    let pet: Pet = insert?;
    Ok((StatusCode::CREATED, [(LOCATION, format!("/v1/pets/{}", pet.id))], Json(pet)).into_response())
}

async fn authenticate(
    State(app): State<App>,
    headers: HeaderMap,
    request: Request,
    next: Next,
) -> Result<Response, Failure> {
    let key = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    if key.is_some_and(|key| app.keys.contains(Sha256::digest(key).as_slice())) {
        return Ok(next.run(request).await);
    }
    Err(Failure(StatusCode::UNAUTHORIZED))
}

async fn open(place: &str) -> Result<Database, sqlx::Error> {
    if place.starts_with("postgres:") {
        return Ok(Database::Postgres(PgPool::connect(place).await?));
    }
    let options = SqliteConnectOptions::new()
        .filename(place)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full);
    let readers = SqlitePoolOptions::new().connect_with(options.clone()).await?;
    let writer = SqlitePoolOptions::new().max_connections(1).connect_with(options).await?;
    Ok(Database::Sqlite { readers, writer })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt().with_ansi(false).with_writer(std::io::stderr).init();
    let place = std::env::args().nth(1).ok_or("the argument is the file or the URL of the database")?;
    let keys = "SELECT hash FROM api_key WHERE revoked IS NULL";
    let database = open(&place).await?;
    let keys: Vec<(Vec<u8>,)> = match &database {
        Database::Sqlite { readers, .. } => sqlx::query_as(keys).fetch_all(readers).await?,
        Database::Postgres(pool) => sqlx::query_as(keys).fetch_all(pool).await?,
    };
    let keys = Arc::new(keys.into_iter().map(|(hash,)| hash).collect());
    let app = App { database, keys };
    let log = TraceLayer::new_for_http()
        .make_span_with(DefaultMakeSpan::new().level(Level::INFO))
        .on_response(DefaultOnResponse::new().level(Level::INFO));
    let router = Router::new()
        .route("/v1/pets", get(list_pets).post(add_pet))
        .route("/v1/pets/{id}", get(get_pet))
        .route_layer(middleware::from_fn_with_state(app.clone(), authenticate))
        .layer(log)
        .with_state(app);
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    println!("ready: http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, router).await?)
}
