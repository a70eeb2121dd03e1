//! Constructs of OpenAPI that progenitor 0.15 cannot generate a client from.
//!
//! On these, progenitor panics or fails with an error that names neither the place nor the construct. The
//! test `tests/generator` of the root package runs progenitor on the fixtures of these rules: it must fail on
//! what they report and succeed on the document as it is.

pub(crate) mod bodies;
pub(crate) mod parameters;
pub(crate) mod references;
pub(crate) mod responses;
pub(crate) mod schemas;
