//! The types of `components/schemas`, and the limits that several layers share.
//!
//! Each limit is one constant: the validation and the JSON schema use the same one.

mod error;
mod name;
mod pet;

pub use error::Error;
pub use name::PetName;
pub use pet::*;
