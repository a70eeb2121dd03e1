//! What linters commonly demand of a document, and the house rules that a machine can enforce.

pub(super) mod bounds;
pub(super) mod components;
pub(super) mod deprecation;
pub(super) mod info;
pub(super) mod names;
pub(super) mod operations;
pub(super) mod parameters;
pub(super) mod paths;
pub(super) mod patterns;
pub(super) mod responses;
pub(super) mod schemas;
pub(super) mod security;
pub(super) mod servers;
pub(super) mod tags;
pub(super) mod words;
