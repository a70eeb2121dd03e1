//! The twins of `components/schemas`: what goes over the wire, and what of it is allowed.
//!
//! A bound is one constant, read by the check that enforces it and by the schema that announces it.

mod error;
mod name;
mod pet;

pub use error::Error;
pub use name::PetName;
pub(crate) use pet::present;
pub use pet::{NewPet, Pet, PetStatus, Pets};
