//! How findings are shown.

mod text;

pub use text::render;
