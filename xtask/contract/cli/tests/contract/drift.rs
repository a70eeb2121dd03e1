use fixtures::{CODE, LIBRARY};

use super::{Workplace, edited};

fn drift(document: &str, configuration: &str) -> (Option<i32>, String) {
    let files = [("library.yaml", document), ("code.json", CODE), ("contract.toml", configuration)];
    Workplace::new(&files).run(&["drift", "library.yaml", "code.json"])
}

#[test]
fn a_document_is_compared_with_the_generated_one() {
    let (code, printed) = drift(LIBRARY, "");
    assert_eq!((code, printed.as_str()), (Some(0), "library.yaml: the document and the code agree\n"));
    let (code, printed) = drift(&edited("maximum: 100", "maximum: 50"), "");
    assert_eq!(code, Some(1), "{printed}");
    assert!(
        printed.contains("error[schema-differs]") && printed.contains("library.yaml: 1 error"),
        "{printed}"
    );
    let (code, printed) =
        Workplace::new(&[("library.yaml", LIBRARY)]).run(&["drift", "library.yaml", "code.json"]);
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("code.json") && printed.contains("There is no such file"), "{printed}");
}

#[test]
fn the_configuration_applies() {
    let changed = edited("maximum: 100", "maximum: 50");
    let (code, printed) = drift(&changed, "[rules]\nschema-differs = \"warning\"\n");
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("warning[schema-differs]"), "{printed}");
    let ignore = "[[ignore]]\nrule = \"schema-differs\"\nat = \"/paths\"\nreason = \"Lower from May on.\"\n";
    let (code, printed) = drift(&changed, ignore);
    assert_eq!((code, printed.as_str()), (Some(0), "library.yaml: the document and the code agree\n"));
    let (code, printed) = drift(LIBRARY, ignore);
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("ignore-unused"), "{printed}");
    // An entry for another command is not unused.
    let (_, printed) = drift(LIBRARY, &ignore.replace("schema-differs", "info-contact"));
    assert!(!printed.contains("ignore-unused"), "{printed}");
}
