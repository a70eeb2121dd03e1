//! Reads the output of cargo, of the tests and of `check`, and says in one line what came of it.

use std::path::PathBuf;

use serde_json::Value;

/// What a step printed.
#[derive(Debug, Default)]
pub(super) struct Printed {
    /// Each error of the compiler: file, line, column and message.
    errors: Vec<String>,
    /// The complete texts of these errors.
    explained: Vec<String>,
    /// The executables that cargo built, by the names of their targets.
    executables: Vec<(String, PathBuf)>,
    /// What was printed by the program that cargo ran.
    output: Vec<String>,
    /// Standard error.
    problems: Vec<String>,
}

/// What came of a step.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) passed: bool,
    /// The result in one line, and one line for each further event, such as a failed test.
    pub(super) lines: Vec<String>,
    /// The complete output of a step that failed.
    pub(super) details: String,
}

impl Printed {
    /// Adds a line of standard output. With `--message-format json`, cargo prints one JSON object a line, and the
    /// program that it runs prints its own lines.
    pub(super) fn add(&mut self, line: String) {
        let message: Option<Value> =
            line.starts_with("{\"reason\":").then(|| serde_json::from_str(&line).ok()).flatten();
        match message {
            Some(message) => self.add_message(&message),
            None => self.output.push(line),
        }
    }

    /// Adds a line of standard error.
    pub(super) fn add_problem(&mut self, line: String) {
        self.problems.push(line);
    }

    fn add_message(&mut self, message: &Value) {
        if let Some(executable) = message["executable"].as_str() {
            let name = message["target"]["name"].as_str().unwrap_or_default();
            self.executables.push((name.to_owned(), executable.into()));
        }
        let message = &message["message"];
        let spans = message["spans"].as_array().into_iter().flatten();
        let primary = spans.clone().find(|span| span["is_primary"] == true);
        if message["level"] == "error" {
            let text = message["message"].as_str().unwrap_or_default();
            let place = primary.map(|span| {
                let file = span["file_name"].as_str().unwrap_or_default();
                format!("{file}:{}:{}: ", span["line_start"], span["column_start"])
            });
            // The last error has no place: it counts the others.
            if place.is_some() || self.errors.is_empty() {
                self.errors.push(place.unwrap_or_default() + text);
            }
            self.explained.push(message["rendered"].as_str().unwrap_or(text).to_owned());
        }
    }

    /// Returns the executable of a target.
    pub(super) fn executable(&self, name: &str) -> Option<&PathBuf> {
        self.executables.iter().find(|(known, _)| known == name).map(|(_, path)| path)
    }

    /// Returns the result of a program that did not compile, or did not run.
    fn not_run(&self) -> Verdict {
        let said = || {
            let error = self.problems.iter().find(|line| line.starts_with("error"));
            error.or(self.problems.last()).or(self.output.last()).cloned()
        };
        let more = match self.errors.len() {
            0 | 1 => String::new(),
            errors => format!(" (and {} more)", errors - 1),
        };
        let first = self.errors.first().cloned().or_else(said);
        let first = first.unwrap_or_else(|| "it failed without output".to_owned());
        let mut details = self.explained.clone();
        if details.is_empty() {
            details.clone_from(&self.problems);
            details.extend(self.output.iter().cloned());
        }
        Verdict { passed: false, lines: vec![first + &more], details: details.join("\n") }
    }

    /// Returns the result of a build.
    pub(super) fn of_build(&self, succeeded: bool) -> Verdict {
        match succeeded {
            true => Verdict { passed: true, lines: vec!["passed".to_owned()], details: String::new() },
            false => self.not_run(),
        }
    }

    /// Returns the result of `check --format json`.
    pub(super) fn of_check(&self) -> Verdict {
        let Ok(Value::Array(findings)) = serde_json::from_str(&self.output.join("\n")) else {
            return self.not_run();
        };
        let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        let one = |finding: &Value| {
            format!("{}:{} {}", text(finding, "file"), finding["line"], text(finding, "message"))
        };
        let Some(first) = findings.first() else {
            let agree = "the document and the code agree".to_owned();
            return Verdict { passed: true, lines: vec![agree], details: String::new() };
        };
        let plural = if findings.len() == 1 { "" } else { "s" };
        let line = format!("{} error{plural}: {}", findings.len(), one(first));
        let details =
            findings.iter().map(|finding| format!("{}\n    {}", one(finding), text(finding, "fix")));
        Verdict { passed: false, lines: vec![line], details: details.collect::<Vec<_>>().join("\n") }
    }

    /// Returns the result of tests.
    pub(super) fn of_tests(&self, succeeded: bool) -> Verdict {
        let result = self.output.iter().rev().find_map(|line| line.strip_prefix("test result: "));
        let Some(result) = result.filter(|_| self.errors.is_empty()) else { return self.not_run() };
        let count = |noun: &str| {
            let counted = result.split(['.', ';']).find_map(|part| part.trim().strip_suffix(noun));
            counted.and_then(|number| number.trim().parse::<usize>().ok()).unwrap_or_default()
        };
        let (passed, failed) = (count("passed"), count("failed"));
        let mut lines = vec![match (passed, failed) {
            (0, 0) => "no test has such a name".to_owned(),
            (_, 0) => format!("{passed} passed"),
            _ => format!("{failed} failed, {passed} passed"),
        }];
        let names =
            self.output.iter().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
        lines.extend(names.map(|name| format!("failed: {name}")));
        let details = if succeeded { String::new() } else { failures(&self.output) };
        Verdict { passed: succeeded, lines, details }
    }
}

/// Returns the output of failed tests: what follows the first line `failures:`.
fn failures(output: &[String]) -> String {
    let start = output.iter().position(|line| line == "failures:").unwrap_or_default();
    output[start..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(output: &str, problems: &str) -> Printed {
        let mut printed = Printed::default();
        output.lines().for_each(|line| printed.add(line.to_owned()));
        problems.lines().for_each(|line| printed.add_problem(line.to_owned()));
        printed
    }

    const ERRORS: &str = r#"{"reason":"compiler-message","message":{"level":"warning","message":"unused","spans":[{"file_name":"src/a.rs","line_start":1,"column_start":1,"is_primary":true}]}}
{"reason":"compiler-message","message":{"level":"error","message":"mismatched types","rendered":"error[E0308]: mismatched types\n","spans":[{"file_name":"src/b.rs","line_start":2,"column_start":1,"is_primary":false},{"file_name":"src/a.rs","line_start":12,"column_start":5,"is_primary":true}]}}
{"reason":"compiler-message","message":{"level":"error","message":"no `x`","rendered":"error: no `x`\n","spans":[{"file_name":"src/c.rs","line_start":3,"column_start":9,"is_primary":true}]}}
{"reason":"compiler-message","message":{"level":"error","message":"aborting due to 2 previous errors","rendered":"error: aborting\n","spans":[]}}
{"reason":"build-finished","success":false}"#;

    #[test]
    fn a_compile_error_is_one_line_with_its_place() {
        for verdict in [
            printed(ERRORS, "").of_build(false),
            printed(ERRORS, "").of_tests(false),
            printed(ERRORS, "").of_check(),
        ] {
            assert_eq!(verdict.lines, ["src/a.rs:12:5: mismatched types (and 1 more)"]);
            assert!(!verdict.passed && verdict.details.starts_with("error[E0308]: mismatched types\n"));
        }
        let manifest = printed("", "    Updating x\nerror: failed to parse manifest\n\nCaused by: y");
        assert_eq!(manifest.of_build(false).lines, ["error: failed to parse manifest"]);
        assert_eq!(printed("", "").of_check().lines, ["it failed without output"]);
    }

    #[test]
    fn the_executable_of_a_build_is_known() {
        let built = printed(
            "{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"animal-store\"},\"executable\":null}\n\
             {\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"animal-store\"},\"executable\":\"/t/debug/animal-store\"}",
            "",
        );
        assert_eq!(built.executable("animal-store"), Some(&PathBuf::from("/t/debug/animal-store")));
        assert_eq!(built.executable("xtask"), None);
        assert_eq!(built.of_build(true).lines, ["passed"]);
    }

    #[test]
    fn differences_are_counted_and_the_first_has_its_line() {
        let agree = printed("{\"reason\":\"build-finished\",\"success\":true}\n[]", "").of_check();
        assert!(agree.passed && agree.lines == ["the document and the code agree"]);
        let differs = r#"[
  {"file": "openapi/a.yaml", "line": 120, "message": "A differs.", "fix": "Change it."},
  {"file": "openapi/a.yaml", "line": 7, "message": "B differs.", "fix": ""}
]"#;
        let verdict = printed(differs, "").of_check();
        assert_eq!(verdict.lines, ["2 errors: openapi/a.yaml:120 A differs."]);
        assert_eq!(
            verdict.details,
            "openapi/a.yaml:120 A differs.\n    Change it.\nopenapi/a.yaml:7 B differs.\n    "
        );
    }

    #[test]
    fn each_failed_test_has_a_line() {
        let output = "\nrunning 3 tests\ntest v1::a ... ok\ntest v1::b ... FAILED\ntest v1::c - should panic ... FAILED\n\n\
                      failures:\n\n---- v1::b stdout ----\nassertion failed\n\n\
                      test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 480 filtered out; finished in 0.1s";
        let verdict = printed(output, "error: test failed").of_tests(false);
        assert_eq!(verdict.lines, ["2 failed, 1 passed", "failed: v1::b", "failed: v1::c - should panic"]);
        assert!(verdict.details.starts_with("failures:\n\n---- v1::b stdout"), "{}", verdict.details);
        let ok =
            "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out; finished in 0.1s";
        let verdict = printed(ok, "").of_tests(true);
        assert!(verdict.passed && verdict.lines == ["12 passed"] && verdict.details.is_empty());
        let none =
            "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out; finished in 0.1s";
        assert_eq!(printed(none, "").of_tests(true).lines, ["no test has such a name"]);
    }
}
