//! The types of `components/schemas`, and the limits that several layers share.
//!
//! Each limit is one constant: the validation and the JSON schema use the same one.

mod error;
mod json;
mod name;
mod pet;

pub use error::Error;
pub use json::WriteJson;
pub use name::PetName;
pub(crate) use pet::present;
pub use pet::{NewPet, Pet, PetStatus, Pets};
