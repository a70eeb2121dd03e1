use std::fs;
use std::process::{Command, Stdio};

use fixtures::LIBRARY;

use super::{TODAY, Workplace, edited};

pub(crate) fn git(workplace: &Workplace, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=t", "-c", "user.email=t@a.example", "-c", "commit.gpgsign=false"]);
    let status = git.args(arguments).current_dir(workplace.path("")).stdout(Stdio::null()).status().unwrap();
    assert!(status.success(), "{arguments:?}");
}

/// Returns a repository with the library committed, and an edited library in the working tree.
pub(crate) fn repository() -> Workplace {
    let workplace = Workplace::new(&[("library.yaml", LIBRARY)]);
    git(&workplace, &["init", "-q"]);
    git(&workplace, &["add", "library.yaml"]);
    git(&workplace, &["commit", "-q", "-m", "first"]);
    workplace.write("library.yaml", edited("maximum: 100\n", "maximum: 50\n").as_bytes());
    workplace
}

#[test]
fn a_document_can_be_in_a_revision_of_git() {
    let workplace = repository();
    let (status, printed) =
        workplace.run(&["breaking", "HEAD:library.yaml", "library.yaml", "--today", TODAY]);
    assert_eq!(status, Some(1), "{printed}");
    assert!(printed.contains("was at: HEAD:library.yaml:"), "{printed}");
    assert!(printed.contains("`maximum` changed from 100 to 50"), "{printed}");
    assert_eq!(workplace.run(&["breaking", "HEAD:library.yaml", "HEAD:./library.yaml"]).0, Some(0));
    let (status, printed) = workplace.run(&["lint", "HEAD:library.yaml", "--today", TODAY]);
    assert_eq!((status, printed.as_str()), (Some(0), "HEAD:library.yaml: no findings\n"));
    let (status, printed) = workplace.run(&["changelog", "HEAD:library.yaml", "library.yaml"]);
    assert_eq!(status, Some(0), "{printed}");
    assert!(printed.contains("`maximum` changed from 100 to 50"), "{printed}");
    let (_, printed) = workplace.run(&["drift", "HEAD:library.yaml", "HEAD:library.yaml"]);
    // The second server has another host.
    assert!(printed.contains("server-url") && printed.ends_with("HEAD:library.yaml: 1 error\n"), "{printed}");
}

#[test]
fn the_configuration_is_that_of_the_working_tree() {
    let workplace = repository();
    workplace.write("contract.toml", b"profil = \"spec\"\n");
    for name in ["HEAD:library.yaml", "HEAD:./library.yaml", "HEAD:removed/library.yaml"] {
        let (status, printed) = workplace.run(&["lint", name]);
        assert_eq!(status, Some(2), "{printed}");
        assert!(printed.contains("contract.toml:1:1"), "{printed}");
    }
}

#[test]
fn a_file_of_that_name_is_read_instead() {
    let workplace = repository();
    workplace.write("HEAD:library.yaml", b"openapi: 3.1.0\n");
    let (status, printed) = workplace.run(&["lint", "HEAD:library.yaml"]);
    assert_eq!(status, Some(2), "{printed}");
    assert!(printed.contains("`openapi: 3.1.0` is not supported"), "{printed}");
}

#[test]
fn an_unknown_revision_or_path_is_named() {
    let workplace = repository();
    for (name, what) in [("nowhere:library.yaml", "nowhere"), ("HEAD:missing.yaml", "missing.yaml")] {
        let (status, printed) = workplace.run(&["lint", name]);
        assert_eq!(status, Some(2), "{printed}");
        assert!(printed.contains("`git show` failed") && printed.matches(what).count() > 1, "{printed}");
    }
}

#[test]
fn a_document_can_be_standard_input_and_not_an_address() {
    let workplace = Workplace::new(&[("library.yaml", LIBRARY)]);
    let mut command = workplace.command(&["breaking", "-", "library.yaml", "--today", TODAY]);
    command.stdin(fs::File::open(workplace.path("library.yaml")).unwrap());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    let (status, printed) = workplace.run(&["breaking", "https://a.example/library.yaml", "library.yaml"]);
    assert_eq!(status, Some(2), "{printed}");
    assert!(printed.contains("pipe the document into the command"), "{printed}");
}

#[test]
fn a_revision_is_not_fixed() {
    let (status, printed) = repository().run(&["lint", "HEAD:library.yaml", "--fix"]);
    assert_eq!(status, Some(2), "{printed}");
    assert!(printed.contains("Only a file can be fixed"), "{printed}");
}
