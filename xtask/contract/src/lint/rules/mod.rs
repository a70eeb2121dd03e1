//! What linters commonly demand of a document, and the house rules that a machine can enforce.

pub(crate) mod bounds;
pub(crate) mod components;
pub(crate) mod conditions;
pub(crate) mod deprecation;
pub(crate) mod info;
pub(crate) mod names;
pub(crate) mod operations;
pub(crate) mod parameters;
pub(crate) mod paths;
pub(crate) mod patterns;
pub(crate) mod responses;
pub(crate) mod schemas;
pub(crate) mod security;
pub(crate) mod servers;
pub(crate) mod tags;
pub(crate) mod words;
