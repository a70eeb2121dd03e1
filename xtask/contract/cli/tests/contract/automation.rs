//! The action of GitHub and the hooks of pre-commit, run on the document of this repository.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use document::Node;

use super::Workplace;
use super::revision::git;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap()
}

fn read(path: &str) -> Node {
    document::read(&fs::read_to_string(root().join(path)).unwrap()).unwrap()
}

fn text<'n>(node: &'n Node, key: &str) -> &'n str {
    node.get(key).and_then(Node::as_str).unwrap_or_else(|| panic!("no `{key}`: {node:?}"))
}

/// Returns a repository with the document of this repository and its configuration.
fn repository() -> Workplace {
    let [document, configuration] = ["animal-store.yaml", "contract.toml"]
        .map(|file| fs::read(root().join("openapi").join(file)).unwrap());
    let workplace = Workplace::new(&[]);
    workplace.write("openapi.yaml", &document);
    workplace.write("contract.toml", &configuration);
    for arguments in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "first"]] {
        git(&workplace, arguments);
    }
    workplace
}

#[test]
fn each_hook_runs() {
    let hooks = read(".pre-commit-hooks.yaml");
    assert_eq!(hooks.items().len(), 2);
    let workplace = repository();
    for hook in hooks.items() {
        let mut arguments = text(hook, "entry").split(' ');
        assert_eq!(arguments.next(), Some("contract"));
        let given = hook.get("args").map(Node::items).unwrap_or_default();
        let named = hook.get("pass_filenames").is_none().then_some("openapi.yaml");
        let arguments: Vec<&str> =
            arguments.chain(given.iter().filter_map(Node::as_str)).chain(named).collect();
        let (status, printed) = workplace.run(&arguments);
        assert!(status == Some(0) && printed.contains("openapi.yaml"), "{arguments:?}: {printed}");
    }
}

/// Copies an executable in a child process. If this process wrote the copy, a program that another thread starts meanwhile
/// would inherit the open file, and running the copy would fail with ETXTBSY.
fn install(from: impl AsRef<OsStr>, to: PathBuf) {
    assert!(Command::new("install").arg(from).arg(to).status().unwrap().success());
}

/// A `gh` that notes how it is called and finds what is in files: a release, the comments, and whether it may write.
const GH: &str = r#"#!/bin/sh
echo "gh $*" >> "$RUNNER_TEMP/calls"
case "$*" in
    'release download v'*) cp "$RUNNER_TEMP"/release/* "$RUNNER_TEMP/contract/" ;;
    *--method*) test -e "$RUNNER_TEMP/may-write" && cp "${0%/*}/../contract/comment.md" "$RUNNER_TEMP/posted" ;;
    *comments*) cat "$RUNNER_TEMP/known" ;;
    *) echo 0123abcd ;;
esac
"#;

/// Runs the steps of the action for a revision of it. Returns whether each step that ran succeeded, and what all printed.
fn run_action(workplace: &Workplace, reference: &str, inputs: &[(&str, &str)]) -> (Vec<bool>, String) {
    let action = read(".github/actions/contract/action.yml");
    let declared = action.get("inputs").unwrap();
    let input = |name: &str| {
        let given = inputs.iter().find(|(given, _)| *given == name).map(|(_, value)| *value);
        given.unwrap_or_else(|| text(declared.get(name).unwrap(), "default")).to_owned()
    };
    let expression = |name: &str| match name {
        "github.action_path" => root().join(".github/actions/contract").display().to_string(),
        "github.action_repository" => "owner/tools".to_owned(),
        "github.action_ref" => reference.to_owned(),
        "github.repository" => "owner/api".to_owned(),
        "github.event.pull_request.number" => "7".to_owned(),
        "github.token" => "secret".to_owned(),
        _ => input(name.strip_prefix("inputs.").unwrap()),
    };
    let replaced = |text: &str| {
        let mut parts = text.split("${{ ");
        let first = parts.next().unwrap().to_owned();
        parts.fold(first, |text, part| {
            let (name, rest) = part.split_once(" }}").unwrap();
            text + &expression(name) + rest
        })
    };
    // Cargo and rustup take minutes and need the network.
    let tools = workplace.path("tools");
    fs::create_dir_all(workplace.path("contract/bin")).unwrap();
    fs::create_dir_all(&tools).unwrap();
    let built = format!("cp '{}' \"$RUNNER_TEMP/contract/bin/contract\"", env!("CARGO_BIN_EXE_contract"));
    for (tool, script) in [
        ("cargo", format!("#!/bin/sh\nls xtask/contract/cli/Cargo.toml && echo cargo \"$@\" && {built}\n")),
        ("rustup", "#!/bin/sh\necho rustup \"$@\"\n".to_owned()),
        ("gh", GH.to_owned()),
    ] {
        fs::write(workplace.path("script"), script).unwrap();
        install(workplace.path("script"), tools.join(tool));
    }
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let (mut results, mut printed) = (Vec::new(), String::new());
    for step in action.get("runs").and_then(|runs| runs.get("steps")).unwrap().items() {
        let condition = step.get("if").and_then(Node::as_str).unwrap_or_default();
        if condition.contains("inputs.base") && input("base").is_empty() {
            continue;
        }
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", text(step, "run")]);
        bash.current_dir(workplace.path("")).env("PATH", &path).env("RUNNER_TEMP", workplace.path(""));
        if let Some(directory) = step.get("working-directory") {
            bash.current_dir(replaced(directory.as_str().unwrap()));
        }
        for variable in step.get("env").map(Node::entries).unwrap_or_default() {
            bash.env(&variable.key, replaced(variable.value.as_str().unwrap()));
        }
        let output = bash.output().unwrap();
        printed += &String::from_utf8_lossy(&output.stdout);
        printed += &String::from_utf8_lossy(&output.stderr);
        results.push(output.status.success());
    }
    (results, printed)
}

const INPUTS: [(&str, &str); 4] = [
    ("document", "openapi.yaml"),
    ("base", "HEAD:openapi.yaml"),
    ("config", "contract.toml"),
    ("fail-on", "warning"),
];

/// Makes a change with an error of `breaking` and a warning of `lint`.
fn break_document(workplace: &Workplace) {
    let text = fs::read_to_string(workplace.path("openapi.yaml")).unwrap();
    let text = text.replace("operationId: listPets", "operationId: pets");
    let text = text.replace("in: path\n", "in: path\n          allowReserved: false\n");
    workplace.write("openapi.yaml", text.as_bytes());
}

#[test]
fn the_action_builds_the_program_and_annotates_a_document() {
    let workplace = repository();
    let (results, printed) = run_action(&workplace, "main", &[("document", "openapi.yaml")]);
    assert_eq!(results, [true; 2], "{printed}");
    assert!(printed.contains("install --locked --path xtask/contract"), "{printed}");
    assert!(printed.contains("openapi.yaml: no findings"), "{printed}");
    break_document(&workplace);
    workplace.write("known", b"");
    let (results, printed) = run_action(&workplace, "main", &INPUTS);
    // Without the permission to comment, it says so.
    assert_eq!(results, [true, false, false, true], "{printed}");
    for part in [
        "::warning file=openapi.yaml,",
        "::error file=openapi.yaml,",
        "api-operation-id-removed",
        "pull-requests: write",
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
}

#[test]
fn the_action_uses_the_program_of_its_release_if_the_checksum_is_right() {
    let workplace = repository();
    fs::create_dir_all(workplace.path("release/bin")).unwrap();
    install(env!("CARGO_BIN_EXE_contract"), workplace.path("release/bin/contract"));
    let archive =
        "cd release && tar -czf contract-x86_64-linux.tar.gz bin && rm -r bin && sha256sum *.gz > SHA256SUMS";
    let status = Command::new("sh").args(["-c", archive]).current_dir(workplace.path("")).status().unwrap();
    assert!(status.success());
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let package = manifest.split_once("name = \"animal-store\"").unwrap().1;
    let tag = format!("v{}", package.split("version = \"").nth(1).unwrap().split('"').next().unwrap());
    // The tag of the release, and the commit to which it leads.
    for reference in [&*tag, "0123abcd"] {
        let (results, printed) = run_action(&workplace, reference, &INPUTS[..1]);
        assert_eq!(results, [true; 2], "{printed}");
        assert!(
            printed.contains("contract-x86_64-linux.tar.gz: OK") && !printed.contains("cargo"),
            "{printed}"
        );
    }
    let (_, printed) = run_action(&workplace, "89ef", &INPUTS[..1]);
    assert!(printed.contains("cargo"), "{printed}");
    workplace.write("release/contract-x86_64-linux.tar.gz", b"another program");
    let (results, printed) = run_action(&workplace, &tag, &INPUTS[..1]);
    assert!(!results[0] && printed.contains("FAILED"), "{printed}");
}

#[test]
fn the_action_writes_one_comment_and_keeps_it_up_to_date() {
    let workplace = repository();
    for name in ["known", "may-write"] {
        workplace.write(name, b"");
    }
    let methods = || {
        let calls = fs::read_to_string(workplace.path("calls")).unwrap();
        let methods =
            calls.lines().filter_map(|call| call.split_once("--method ")).map(|(_, rest)| rest.to_owned());
        methods.map(|rest| rest.split(" --field").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // Without a finding, there is no comment.
    assert_eq!(run_action(&workplace, "main", &INPUTS).0, [true; 4]);
    assert_eq!(methods(), [""; 0]);
    break_document(&workplace);
    assert_eq!(run_action(&workplace, "main", &INPUTS).0, [true, false, false, true]);
    let posted = fs::read_to_string(workplace.path("posted")).unwrap();
    assert!(posted.starts_with("<!-- contract openapi.yaml -->\n**breaking: "), "{posted}");
    assert!(posted.contains("| **error** |") && posted.contains("\n**lint: "), "{posted}");
    workplace.write("known", b"42\n43\n");
    workplace.write("openapi.yaml", &fs::read(root().join("openapi/animal-store.yaml")).unwrap());
    assert_eq!(run_action(&workplace, "main", &INPUTS).0, [true; 4]);
    assert_eq!(
        methods(),
        ["POST repos/owner/api/issues/7/comments", "PATCH repos/owner/api/issues/comments/42"]
    );
    assert!(fs::read_to_string(workplace.path("posted")).unwrap().contains("no findings"));
}
