//! A fixture that is parsed and never compiled: findings about the frozen documents refer to its lines.

pub fn response_headers(deprecated: bool) -> Vec<HeaderField> {
    let names: &[_] =
        if deprecated { &["x-request-id", "Deprecation", "Sunset", "Link"] } else { &["x-request-id"] };
    names.iter().map(|name| HeaderField::string(name)).collect()
}
