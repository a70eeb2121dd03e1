//! `/v1/pets/{petId}`: `getPet`.

mod get;
mod spelling;
