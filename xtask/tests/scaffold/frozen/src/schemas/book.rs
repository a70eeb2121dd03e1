//! `Book`, `NewBook`, `BookStatus` and `Books`: the types that the code has before scaffolding.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A book.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Book {
    /// Its identifier.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// Its shelf.
    pub shelf_id: i64,
    /// Its status.
    pub status: Option<BookStatus>,
}

/// A book to add.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewBook {
    /// Its name.
    pub name: String,
    /// Its shelf.
    pub shelf_id: i64,
    /// Its status.
    pub status: Option<BookStatus>,
}

/// The status of a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum BookStatus {
    Available,
    Pending,
    Sold,
}

/// A page of books.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Books(pub Vec<Book>);

/// A type that no operation uses yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shelf {
    /// Where it is.
    pub room: String,
}
