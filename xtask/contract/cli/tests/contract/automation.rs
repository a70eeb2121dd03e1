//! The action of GitHub and the hooks of pre-commit, run on the document of this repository.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use document::Node;

use super::Workplace;
use super::revision::git;

/// What GitHub replaces in a file of an action.
const INPUT: &str = "${{ inputs.";

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

/// Runs the steps of the action with inputs. Returns whether each step that ran succeeded, and what all printed.
fn run_action(workplace: &Workplace, inputs: &[(&str, &str)]) -> (Vec<bool>, String) {
    let action = read(".github/actions/contract/action.yml");
    let declared = action.get("inputs").unwrap();
    let input = |name: &str| {
        let given = inputs.iter().find(|(given, _)| *given == name).map(|(_, value)| *value);
        given.unwrap_or_else(|| text(declared.get(name).unwrap(), "default")).to_owned()
    };
    // Cargo and rustup take minutes and need the network.
    let tools = workplace.path("tools");
    fs::create_dir_all(workplace.path("contract/bin")).unwrap();
    fs::create_dir_all(&tools).unwrap();
    for tool in ["cargo", "rustup"] {
        let script = format!("#!/bin/sh\nls xtask/contract/cli/Cargo.toml && echo {tool} \"$@\"\n");
        fs::write(workplace.path("script"), script).unwrap();
        install(workplace.path("script"), tools.join(tool));
    }
    install(env!("CARGO_BIN_EXE_contract"), workplace.path("contract/bin/contract"));
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let (mut results, mut printed) = (Vec::new(), String::new());
    for step in action.get("runs").and_then(|runs| runs.get("steps")).unwrap().items() {
        let needs_base =
            step.get("if").and_then(Node::as_str).is_some_and(|condition| condition.contains("inputs.base"));
        if needs_base && input("base").is_empty() {
            continue;
        }
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", text(step, "run")]);
        bash.current_dir(workplace.path("")).env("PATH", &path).env("RUNNER_TEMP", workplace.path(""));
        if let Some(directory) = step.get("working-directory") {
            let place = root().join(".github/actions/contract").display().to_string();
            bash.current_dir(directory.as_str().unwrap().replace("${{ github.action_path }}", &place));
        }
        for variable in step.get("env").map(Node::entries).unwrap_or_default() {
            let value = variable.value.as_str().unwrap();
            let name = value.strip_prefix(INPUT).and_then(|rest| rest.strip_suffix(" }}")).unwrap();
            bash.env(&variable.key, input(name));
        }
        let output = bash.output().unwrap();
        printed += &String::from_utf8_lossy(&output.stdout);
        printed += &String::from_utf8_lossy(&output.stderr);
        results.push(output.status.success());
    }
    (results, printed)
}

#[test]
fn the_action_builds_the_program_and_annotates_a_document() {
    let workplace = repository();
    let (results, printed) = run_action(&workplace, &[("document", "openapi.yaml")]);
    assert_eq!(results, [true; 2], "{printed}");
    assert!(printed.contains("install --locked --path xtask/contract"), "{printed}");
    assert!(printed.contains("openapi.yaml: no findings"), "{printed}");
    let inputs = [
        ("document", "openapi.yaml"),
        ("base", "HEAD:openapi.yaml"),
        ("config", "contract.toml"),
        ("fail-on", "warning"),
    ];
    assert_eq!(run_action(&workplace, &inputs).0, [true; 3]);
    let text = fs::read_to_string(workplace.path("openapi.yaml")).unwrap();
    let text = text.replace("operationId: listPets", "operationId: pets");
    let text = text.replace("in: path\n", "in: path\n          allowReserved: false\n");
    workplace.write("openapi.yaml", text.as_bytes());
    let (results, printed) = run_action(&workplace, &inputs);
    assert_eq!(results, [true, false, false], "{printed}");
    for part in ["::warning file=openapi.yaml,", "::error file=openapi.yaml,", "api-operation-id-removed"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
}
