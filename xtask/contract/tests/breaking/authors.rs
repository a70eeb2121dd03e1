//! What a reviewer reads about changes that the letter of the specification allows.

use crate::documents::{changes, small};

#[test]
fn a_change_of_credentials_names_the_operations_that_require_them() {
    let paths = |own: &str| {
        let responses = "responses: {'200': {description: d}}";
        format!(
            "{{/a: {{get: {{operationId: a, {own}{responses}}}}}, /b: {{get: {{operationId: b, {responses}}}}}}}"
        )
    };
    let schemes =
        "{securitySchemes: {user: {type: http, scheme: bearer}, admin: {type: http, scheme: bearer}}}";
    let document = |all: &str, own: &str| format!("security: {all}\n{}", small(&paths(own), schemes));
    let found = |base: &str, revision: &str| {
        let found = changes(base, revision).into_iter().filter(|change| change.breaks());
        found.map(|change| (change.sentence(), change.place.pointer, change.operations)).collect::<Vec<_>>()
    };
    let user = document("[{user: []}]", "");
    let removed = "credentials for `user` are no longer accepted";
    let both = ["a".to_owned(), "b".to_owned()];
    assert_eq!(
        found(&user, &document("[{admin: []}]", "")),
        [(format!("The document: {removed}"), "/security".to_owned(), both.to_vec())]
    );
    assert_eq!(
        found(&user, &document("[{user: []}]", "security: [{admin: []}], ")),
        [(format!("Operation `a`: {removed}"), "/paths/~1a/get/security".to_owned(), both[..1].to_vec())]
    );
    assert_eq!(
        found(&user, &document("[{user: [], admin: []}]", "")),
        [(
            "The document: `user` is no longer sufficient; `admin` and `user` are required".to_owned(),
            "/security".to_owned(),
            both.to_vec()
        )]
    );
}
