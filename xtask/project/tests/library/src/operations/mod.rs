//! A fixture that is parsed and never compiled: findings about the frozen documents refer to its lines.

mod create_book;
mod get_book;
mod list_books;

use crate::http::Operation;

pub const BASE_PATH: &str = "/v1";
pub const MAX_LIMIT: u32 = 100;

const BOOKS: &str = "books";

pub fn all() -> Vec<Operation> {
    vec![list_books::operation(), create_book::operation(), get_book::operation()]
}
