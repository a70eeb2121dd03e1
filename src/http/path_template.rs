//! Path templates (OpenAPI 3.0.3, "Path Templating") such as `/pets/{petId}`.

/// The segments of a path template.
#[derive(Debug)]
pub struct PathTemplate(Vec<Segment>);

#[derive(Debug)]
enum Segment {
    Literal(String),
    /// The name of a path parameter.
    Parameter(String),
}

impl PathTemplate {
    /// Parses a template of dropshot. It has checked that parameters have names.
    pub(super) fn new(template: &str) -> Self {
        let segment = |text: &str| match text.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            Some(name) => Segment::Parameter(name.to_owned()),
            None => Segment::Literal(text.to_owned()),
        };
        Self(template.split('/').map(segment).collect())
    }

    /// Whether a path matches as it was sent: percent-encoding is not decoded, and no segment of a path may be a
    /// dot segment (RFC 3986, section 3.3).
    pub(super) fn matches(&self, path: &str) -> bool {
        let mut segments = path.split('/');
        self.0.iter().all(|expected| {
            segments.next().is_some_and(|found| match expected {
                Segment::Literal(literal) => found == literal,
                Segment::Parameter(_) => !matches!(found, "" | "." | ".."),
            })
        }) && segments.next().is_none()
    }

    /// Returns the names and the values of the path parameters of a path that matches.
    pub(super) fn parameters<'a>(&'a self, path: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.iter().zip(path.split('/')).filter_map(|(segment, value)| match segment {
            Segment::Literal(_) => None,
            Segment::Parameter(name) => Some((&**name, value)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_matches_as_it_was_sent() {
        let template = PathTemplate::new("/pets/{petId}/owners/{ownerId}");
        for path in ["/pets/7/owners/8", "/pets/%2e/owners/...", "/pets/{petId}/owners/é"] {
            assert!(template.matches(path), "{path}");
        }
        for path in [
            "",
            "/",
            "/pets",
            "/pets/7",
            "/pets/7/owners",
            "/pets/7/owners/",
            "/pets//owners/8",
            "/pets/7/owners/8/",
            "/pets/7/owners/8/9",
            "//pets/7/owners/8",
            "pets/7/owners/8",
            "/Pets/7/owners/8",
            "/%70ets/7/owners/8",
            "/pets/./owners/8",
            "/pets/7/owners/..",
        ] {
            assert!(!template.matches(path), "{path}");
        }
        let parameters: Vec<_> = template.parameters("/pets/7/owners/%38").collect();
        assert_eq!(parameters, [("petId", "7"), ("ownerId", "%38")]);
    }
}
