//! Paths that dropshot cannot route side by side: it refuses them when the service starts, and no sooner.

/// Why `path` cannot stand beside `other`, if it cannot.
pub(super) fn clash(path: &str, other: &str) -> Option<String> {
    let (mine, theirs) = path.split('/').zip(other.split('/')).find(|(mine, theirs)| mine != theirs)?;
    match (is_parameter(mine), is_parameter(theirs)) {
        (false, false) => None,
        (true, true) => Some(format!(
            "dropshot wants one name for the parameter that `{mine}` is here and `{theirs}` in {other}"
        )),
        _ => Some(format!("dropshot routes no `{mine}` where {other} has `{theirs}`")),
    }
}

fn is_parameter(segment: &str) -> bool {
    segment.starts_with('{')
}

#[cfg(test)]
mod tests {
    use super::clash;

    #[test]
    fn a_parameter_stands_alone_and_has_one_name() {
        for (path, other) in
            [("/toys/counts", "/toys/{toyId}"), ("/{kind}/all", "/toys/all"), ("/toys/{id}", "/toys/{toyId}")]
        {
            assert!(clash(path, other).is_some(), "{path} beside {other}");
            assert!(clash(other, path).is_some(), "{other} beside {path}");
        }
    }

    #[test]
    fn others_do_not_clash() {
        for (path, other) in [
            ("/toys", "/toys/{toyId}"),
            ("/toys/{toyId}/parts", "/toys/{toyId}"),
            ("/toys/{id}", "/pets/{petId}"),
            ("/a", "/a"),
        ] {
            assert_eq!(clash(path, other), None, "{path} beside {other}");
        }
    }
}
