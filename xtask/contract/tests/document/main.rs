//! Reading documents.

mod yaml;
