//! `/v1/pets`: `listPets` and `createPet`.

mod body;
mod body_size;
mod content_type;
mod create;
mod fields;
mod idempotency_key;
mod limit;
mod list;
mod pages;
mod pages_during_writes;
mod pet_id;
mod query;
mod status;
