//! The operations: one file for each, named after its `operationId`.

mod create_pet;
mod get_pet;
mod list_pets;

use crate::http::Operation;

/// The tag of each operation.
const ANIMALS: &str = "animals";

/// Returns all operations. Their paths are relative to [`crate::http::BASE_PATH`].
pub fn all() -> Vec<Operation> {
    vec![list_pets::operation(), create_pet::operation(), get_pet::operation()]
}
