//! `animal-store completions` and `animal-store man`.

use tokio::process::Command;

use kit::program::WorkDir;

#[tokio::test]
async fn bash_completes_a_command_and_a_flag() {
    let directory = WorkDir::new();
    directory.write("completions", directory.run(&["completions", "bash"]).await.success());
    for (words, current, expected) in [
        ("animal-store check", 1, "check-config"),
        ("animal-store serve --database-f", 2, "--database-file"),
        ("animal-store key rev", 2, "revoke"),
    ] {
        let script = format!(
            "source completions; function=$(complete -p animal-store); function=${{function#*-F }}; \
             COMP_WORDS=({words}); COMP_CWORD={current}; \
             ${{function%% *}} animal-store \"${{COMP_WORDS[{current}]}}\" x; echo \"${{COMPREPLY[@]}}\""
        );
        let output =
            Command::new("bash").args(["--norc", "-c", &script]).current_dir(directory.path("")).output();
        let output = output.await.expect("bash");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), expected, "{output:?}");
    }
}

#[tokio::test]
async fn every_shell_has_a_script_with_every_command() {
    let directory = WorkDir::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = directory.run(&["completions", shell]).await.success();
        for command in ["serve", "config", "check-config", "key", "copy", "backup", "man"] {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
    assert!(directory.run(&["completions", "csh"]).await.failure().contains("csh"));
}

#[tokio::test]
async fn each_command_has_a_manual_page() {
    let directory = WorkDir::new();
    assert_eq!(directory.run(&["man", "."]).await.success(), "");
    let names: Vec<String> =
        directory.names().iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    for command in ["", "-serve", "-config", "-check-config", "-key", "-key-create", "-copy", "-backup"] {
        assert!(names.contains(&format!("animal-store{command}.1")), "{command}: {names:?}");
    }
    let version = directory.run(&["--version"]).await.success();
    let page = std::fs::read_to_string(directory.path("animal-store.1")).unwrap();
    // roff escapes a hyphen.
    let version = version.split([' ', ',']).nth(1).unwrap();
    assert!(page.contains(version), "{page}");
    let serve = std::fs::read_to_string(directory.path("animal-store-serve.1")).unwrap();
    assert!(serve.contains(r"\-\-database\-file"), "{serve}");

    let line = directory.run(&["man", "no/such"]).await.failure();
    assert!(line.contains("no/such") && line.contains("give a directory that exists"), "{line}");
}
