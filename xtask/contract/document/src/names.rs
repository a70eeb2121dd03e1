//! Which name a misspelt one means.

/// Returns the number of edits that make one name of another. Case, `-` and `_` are ignored.
pub fn edit_distance(name: &str, known: &str) -> usize {
    strsim::damerau_levenshtein(&folded(name), &folded(known))
}

fn folded(name: &str) -> String {
    name.to_lowercase().replace(['-', '_'], "")
}

/// Returns the most similar name: a third of its characters may differ, but at most three. Case, `-` and `_` are ignored.
pub fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    // The comparison takes quadratic time, so long names are skipped.
    const LONGEST: usize = 100;
    let length = folded(name).chars().count();
    let distance = 3.min(length / 3);
    // Each edit changes the length by at most one.
    let is_candidate = |known: &&str| {
        name.len().max(known.len()) <= LONGEST && folded(known).chars().count().abs_diff(length) <= distance
    };
    let near = known.filter(is_candidate).map(|known| (edit_distance(name, known), known));
    let near = near.filter(|(edits, _)| *edits <= distance);
    near.min_by_key(|(edits, known)| (*edits, known.len().abs_diff(name.len()), *known))
        .map(|(_, known)| known)
}
