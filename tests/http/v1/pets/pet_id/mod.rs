//! `/v1/pets/{petId}`: `getPet`.

mod get;
mod invalid_ids;
