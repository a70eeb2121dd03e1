//! Never compiled: what findings about the frozen documents point into.

/// The headers that the edge puts on every answer of an operation. `x-request-id` comes from dropshot.
pub fn headers(deprecated: bool) -> Vec<HeaderField> {
    let names: &[_] =
        if deprecated { &["x-request-id", "Deprecation", "Sunset", "Link"] } else { &["x-request-id"] };
    names.iter().map(|name| HeaderField::string(name)).collect()
}
