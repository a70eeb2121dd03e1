//! Paths that dropshot cannot route side by side. dropshot itself refuses them only when the service starts.

/// Why dropshot cannot route `path` and `other`, if it cannot.
pub(super) fn clash(path: &str, other: &str) -> Option<String> {
    let (mine, theirs) = path.split('/').zip(other.split('/')).find(|(mine, theirs)| mine != theirs)?;
    match (is_parameter(mine), is_parameter(theirs)) {
        (false, false) => None,
        (true, true) => Some(format!(
            "dropshot requires one name for the parameter that is `{mine}` here and `{theirs}` in {other}"
        )),
        _ => Some(format!("dropshot cannot route `{mine}` here, where {other} has `{theirs}`")),
    }
}

fn is_parameter(segment: &str) -> bool {
    segment.starts_with('{')
}

#[cfg(test)]
mod tests {
    use super::clash;

    #[test]
    fn a_parameter_excludes_other_segments_and_has_one_name() {
        for (path, other, clashes) in [
            ("/toys/counts", "/toys/{toyId}", true),
            ("/{kind}/all", "/toys/all", true),
            ("/toys/{id}", "/toys/{toyId}", true),
            ("/toys", "/toys/{toyId}", false),
            ("/toys/{toyId}/parts", "/toys/{toyId}", false),
            ("/toys/{id}", "/pets/{petId}", false),
            ("/a", "/a", false),
        ] {
            assert_eq!(clash(path, other).is_some(), clashes, "{path} beside {other}");
            assert_eq!(clash(other, path).is_some(), clashes, "{other} beside {path}");
        }
    }
}
