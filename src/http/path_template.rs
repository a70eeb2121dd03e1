//! Path templates (OpenAPI 3.0.3, "Path Templating") such as `/pets/{petId}`.

/// A path template.
#[derive(Debug)]
pub struct PathTemplate(Vec<Part>);

#[derive(Debug)]
enum Part {
    /// The text between two path parameters, with its slashes.
    Literal(String),
    /// The name of a path parameter, which is one segment.
    Parameter(String),
}

impl PathTemplate {
    /// Parses a template that dropshot has checked.
    pub(super) fn new(template: &str) -> Self {
        let mut parts = Vec::new();
        let mut rest = template;
        while let Some((literal, (name, after))) =
            rest.split_once('{').and_then(|(literal, after)| Some((literal, after.split_once('}')?)))
        {
            parts.push(Part::Literal(literal.to_owned()));
            parts.push(Part::Parameter(name.to_owned()));
            rest = after;
        }
        parts.push(Part::Literal(rest.to_owned()));
        Self(parts)
    }

    /// Whether a path matches as it was sent: percent-encoding is not decoded, and no value may be a dot segment
    /// (RFC 3986, section 3.3).
    pub(super) fn matches(&self, path: &str) -> bool {
        self.0.iter().try_fold(path, |path, part| part.split(path).map(|(_, rest)| rest)) == Some("")
    }

    /// Returns the names and the values of the path parameters of a path that matches.
    pub(super) fn parameters<'a>(&'a self, path: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let values = self.0.iter().scan(path, |path, part| {
            let (value, rest) = part.split(path)?;
            *path = rest;
            Some((part, value))
        });
        values.filter_map(|(part, value)| match part {
            Part::Literal(_) => None,
            Part::Parameter(name) => Some((&**name, value)),
        })
    }
}

impl Part {
    /// Returns the start of a path that matches, and the rest.
    fn split<'a>(&self, path: &'a str) -> Option<(&'a str, &'a str)> {
        match self {
            Self::Literal(literal) => path.starts_with(&**literal).then(|| path.split_at(literal.len())),
            Self::Parameter(_) => {
                let end = path.bytes().position(|byte| byte == b'/').unwrap_or(path.len());
                let (value, rest) = path.split_at(end);
                (!matches!(value, "" | "." | "..")).then_some((value, rest))
            }
        }
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
            "/pets7/owners/8",
            "/pets/7/ownersX/8",
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
