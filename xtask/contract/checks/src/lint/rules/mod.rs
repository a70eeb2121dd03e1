//! The rules that common linters have, and further ones that a program can check.

pub(crate) mod combinations;
pub(crate) mod components;
pub(crate) mod documentation;
pub(crate) mod merge_keys;
pub(crate) mod named;
pub(crate) mod operations;
pub(crate) mod parameters;
pub(crate) mod paths;
pub(crate) mod schemas;
pub(crate) mod security;
