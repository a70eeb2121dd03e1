//! The document as OpenAPI 3.0.3 sees it: typed views over the tree.
//!
//! [`Model::of`] checks the structure in one walk and keeps every node that is an object of the
//! specification, with its place and the target of its references. All other modules ask the model; none of
//! them walks the tree or resolves a `$ref` again. The views ([`Operation`], [`Parameter`], [`Schema`], ...)
//! apply OpenAPI's rules of inheritance and its defaults, so each rule is written once.

mod kind;
mod media_type;
mod model;
mod operation;
mod parameter;
mod references;
mod schema;
mod security;
mod server;
pub mod shapes;
mod structure;
mod tables;
mod understood;

pub use kind::{Demand, Keys, Shape, Table};
pub use media_type::{Header, MediaType, RequestBody, Response};
pub use model::{Id, Model, Object, Step, head};
pub use operation::{METHODS, Operation, PathItem};
pub use parameter::Parameter;
pub use references::in_place;
pub use schema::{Additional, Schema};
pub use security::{Requirement, Security};
pub use server::Server;
pub use tables::Kind;
pub use understood::{LeftOut, NOT_UNDERSTOOD, left_out};

use crate::rule::Rule;

/// The rules that [`Model::of`] checks.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    [structure::RULES, references::RULES].into_iter().flatten().copied()
}
