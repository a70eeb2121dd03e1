//! Finds conflicts between paths, which dropshot itself reports only when the service starts.

/// Returns why dropshot cannot route both `path` and `other`, if it cannot.
pub(super) fn conflict(path: &str, other: &str) -> Option<String> {
    let (mine, theirs) = path.split('/').zip(other.split('/')).find(|(mine, theirs)| mine != theirs)?;
    match (is_parameter(mine), is_parameter(theirs)) {
        (false, false) => None,
        (true, true) => Some(format!(
            "dropshot requires the same name for a parameter at the same position, but it is `{mine}` here and `{theirs}` in {other}"
        )),
        _ => Some(format!("dropshot cannot route `{mine}` at the position where {other} has `{theirs}`")),
    }
}

fn is_parameter(segment: &str) -> bool {
    segment.starts_with('{')
}

#[cfg(test)]
mod tests {
    use super::conflict;

    #[test]
    fn a_parameter_excludes_other_segments_and_has_one_name() {
        for (path, other, conflicts) in [
            ("/toys/counts", "/toys/{toyId}", true),
            ("/{kind}/all", "/toys/all", true),
            ("/toys/{id}", "/toys/{toyId}", true),
            ("/toys", "/toys/{toyId}", false),
            ("/toys/{toyId}/parts", "/toys/{toyId}", false),
            ("/toys/{id}", "/pets/{petId}", false),
            ("/a", "/a", false),
        ] {
            assert_eq!(conflict(path, other).is_some(), conflicts, "{path} beside {other}");
            assert_eq!(conflict(other, path).is_some(), conflicts, "{other} beside {path}");
        }
    }
}
