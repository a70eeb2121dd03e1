//! The types of `components/schemas`.

mod book;

pub use book::{Book, BookStatus, Books, NewBook, Shelf};
