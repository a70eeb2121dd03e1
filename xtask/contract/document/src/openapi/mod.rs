//! Typed views of the document by the objects of OpenAPI 3.0.3.
//!
//! [`Model::of`] checks the structure in one pass and keeps every node that is an object of the
//! specification, with its place and the target of its references. All other modules use the model, and do not
//! traverse the tree or resolve a `$ref` again. The views ([`Operation`], [`Parameter`], ...)
//! apply OpenAPI's rules of inheritance and its defaults, so each rule is written once.

/// Lets a view be used as the object in this field.
macro_rules! deref_to_object {
    ($view:ident, $field:tt) => {
        impl<'a> std::ops::Deref for $view<'a> {
            type Target = Object<'a>;

            fn deref(&self) -> &Object<'a> {
                &self.$field
            }
        }
    };
}

mod invalid;
mod media_type;
mod model;
mod operation;
mod parameter;
mod references;
pub mod shapes;
mod structure;
mod tables;

pub use invalid::{Flaw, Invalid, Reason};
pub use media_type::{covering_media_types, is_json, normal_media_type};
pub use model::{Id, Model, Object, Step, head};
pub use operation::{
    METHODS, Operation, PathItem, Requirement, Security, Server, covering_statuses, template,
};
pub use parameter::{Parameter, Serialization, serialization};
pub use references::in_place;
pub use tables::{Demand, Keys, Kind, Shape, Table};
