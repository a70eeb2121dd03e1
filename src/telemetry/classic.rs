//! Metrics in the text format of Prometheus (version 0.0.4), for programs that do not read OpenMetrics.

use std::collections::BTreeMap;

/// Converts a page in the OpenMetrics text format 1.0.0: a family has the name of its samples, there are no types `info` and
/// `unknown`, no units and no end.
pub(super) fn classic(page: &str) -> String {
    let types = page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    let types: BTreeMap<&str, &str> = types.collect();
    let mut text = String::with_capacity(page.len());
    for line in page.lines() {
        let described = line.strip_prefix("# ").and_then(|line| line.split_once(' '));
        let Some((keyword, rest)) = described else {
            if line != "# EOF" {
                text.extend([line, "\n"]);
            }
            continue;
        };
        let (family, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let (suffix, kind) = match types.get(family).copied().unwrap_or_default() {
            "counter" => ("_total", "counter"),
            "info" => ("_info", "gauge"),
            "unknown" => ("", "untyped"),
            other => ("", other),
        };
        match keyword {
            "HELP" => text += &format!("# HELP {family}{suffix} {rest}\n"),
            "TYPE" => text += &format!("# TYPE {family}{suffix} {kind}\n"),
            _ => {}
        }
    }
    text
}
