//! The changelog for users of the API.

use changes::Release;
use checks::breaking::{changelog, compare};

use super::documents::{LIBRARY, SHAPES, TODAY, changes, document, edit};

#[test]
fn the_first_release_and_one_of_descriptions_only() {
    let entry = |from, to, date| changelog(&[], from, to, date).to_markdown();
    assert_eq!(entry(None, "1.0.0", "2026-11-21"), "## 1.0.0 (2026-11-21)\n\nThe first release.\n");
    assert_eq!(
        entry(Some("1.0.0"), "1.0.1", "2026-11-22"),
        "## 1.0.1 (2026-11-22)\n\nOnly descriptions and examples differ from 1.0.0.\n"
    );
}

#[test]
fn changes_are_grouped_and_listed_with_their_operations() {
    let (text, _) = edit(LIBRARY, "- name: limit", "maximum: 100", "maximum: 50");
    let (text, _) = edit(&text, "", "default: 20", "default: 30");
    let (text, _) = edit(
        &text,
        "    Book:",
        "      properties:\n",
        "      properties:\n        colour:\n          type: string\n",
    );
    let (text, _) = edit(
        &text,
        "",
        "operationId: createBook\n",
        "operationId: createBook\n      deprecated: true\n      x-deprecated-since: '2026-11-21'\n      x-sunset: '2031-01-31'\n",
    );
    let (text, _) = edit(&text, "", "enum: [available, pending, sold]", "enum: [available, pending]");
    let changes = changes(LIBRARY, &text);
    let release = changelog(&changes, Some("1.0.0"), "2.0.0", "2026-12-01");
    assert_eq!(release.to_markdown(), include_str!("changelog.md"));
    let json = serde_json::to_string(&release).unwrap();
    assert_eq!(serde_json::from_str::<Release>(&json).unwrap(), release);
    let status = release.changes.iter().find(|entry| entry.sentence.contains("BookStatus")).unwrap();
    assert_eq!(status.operations, ["createBook", "listBooks"]);
    assert_eq!(status.places, ["/components/schemas/BookStatus/enum"]);
    assert_eq!((status.severity.as_str(), status.waiver.as_deref()), ("error", None));
}

#[test]
fn a_removal_after_the_sunset_is_not_breaking() {
    let (text, _) = edit(
        SHAPES,
        "",
        "    delete:\n      operationId: deleteDrafts",
        "    x-delete:\n      operationId: x",
    );
    let (base, revision) = (document("a.yaml", SHAPES), document("b.yaml", &text));
    let log = changelog(&compare(&base, &revision, TODAY), Some("1.0.0"), "1.1.0", "2026-12-01");
    let log = log.to_markdown();
    assert!(!log.contains("### Breaking"), "{log}");
    assert!(
        log.contains("### Removed\n\n- Path `/drafts`: `DELETE /drafts` was removed after 2026-01-31"),
        "{log}"
    );
}
