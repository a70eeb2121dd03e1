//! `cargo xtask breaking`: load, load, compare, judge, report.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use jiff::civil::Date;

use crate::check::workspace;
use crate::finding::{Finding, Severity, Subject};
use crate::report::Sources;
use crate::report::{self, About, Output};
use crate::written::Document;
use contract::breaking::waivers::{self, Waivers};
use contract::breaking::{FailOn, Outcome, newest};

/// The file, the released ones and the waivers, from the root of the workspace.
const SPEC: &str = "openapi/animal-store.yaml";
const RELEASED: &str = "openapi/released";
const WAIVERS: &str = "openapi/waivers.toml";

/// What the command is asked to do.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The document that clients rely on [default: the newest in openapi/released/].
    #[arg(long, value_name = "FILE")]
    pub base: Option<PathBuf>,
    /// The document that they will get, instead of the one in openapi/.
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    /// The day to judge sunset dates and waivers by, as YYYY-MM-DD [default: today, UTC].
    #[arg(long, value_name = "DATE")]
    pub today: Option<Date>,
    /// What to fail for.
    #[arg(long, value_enum, default_value_t)]
    pub fail_on: FailOn,
    /// How to show what was found.
    #[command(flatten)]
    pub output: Output,
    /// Print the table of rules, and compare nothing.
    #[arg(long)]
    pub rules: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments, today: Date) -> ExitCode {
    if arguments.rules {
        for rule in contract::breaking::rules() {
            println!("{:<60} {:<10} {} [{}]", rule.name, rule.severity, rule.explanation, rule.origin);
        }
        return ExitCode::SUCCESS;
    }
    let root = workspace();
    let (format, sources) = (arguments.output.format, Sources::new(&root));
    let base = match arguments.base.clone().map_or_else(|| newest_released(&root), Ok) {
        Ok(base) => base,
        Err(message) => return refuse(&message),
    };
    let spec = arguments.spec.clone().unwrap_or_else(|| here(root.join(SPEC)));
    // Reading takes most of the time, and the two files do not need each other.
    let (base, revision) = std::thread::scope(|scope| {
        let reading = scope.spawn(|| Document::load(&base));
        let revision = Document::load(&spec);
        (reading.join(), revision)
    });
    let Ok(base) = base else { return refuse("the base could not be read") };
    let (base, revision) = match (base, revision) {
        (Ok(base), Ok(revision)) => (base, revision),
        (base, revision) => {
            for unreadable in [base.err(), revision.err()].into_iter().flatten() {
                let finding = Finding::from(&unreadable);
                let about = About { path: &unreadable.path, text: &unreadable.text, findings: &[finding] };
                report::print(format, &[about], &sources, "");
            }
            return refuse("nothing was compared");
        }
    };
    let file = here(root.join(WAIVERS));
    let name = file.display().to_string();
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return refuse(&format!("{name}: {error}")),
    };
    let waivers = match Waivers::parse(&name, &text) {
        Ok(waivers) => waivers,
        Err(waivers::Unreadable { message, place }) => {
            let finding = Finding::new(Severity::Unreadable, "unreadable", "", place.span)
                .message(&Subject::document(), message)
                .fix("Nothing was compared. Fix this first.");
            let about = About { path: &name, text: &text, findings: &[finding] };
            report::print(format, &[about], &sources, "");
            return refuse("the waivers could not be read");
        }
    };
    let outcome = Outcome::of(&base, &revision, &waivers, arguments.today.unwrap_or(today));
    let mut files =
        vec![(base.path.as_str(), base.text.as_str()), (&revision.path, &revision.text), (&name, &text)];
    files.dedup_by_key(|(path, _)| *path);
    let summary = format!("{} against {}: {}", revision.path, base.path, outcome.summary());
    let findings: Vec<_> = files.iter().map(|(path, _)| outcome.in_file(path)).collect();
    let about: Vec<_> =
        files.iter().zip(&findings).map(|((path, text), findings)| About { path, text, findings }).collect();
    report::print(format, &about, &sources, &summary);
    ExitCode::from(outcome.exit_code(arguments.fail_on))
}

fn newest_released(root: &Path) -> Result<PathBuf, String> {
    let directory = here(root.join(RELEASED));
    match newest(&directory) {
        Ok(Some((_, path))) => Ok(path),
        Ok(None) => {
            let directory = directory.display();
            Err(format!("nothing was released yet: {directory} has no document; name one with --base FILE"))
        }
        Err(error) => Err(format!("{}: {error}", directory.display())),
    }
}

/// The path as one would write it from here.
fn here(path: PathBuf) -> PathBuf {
    let here = std::env::current_dir().ok();
    let relative = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    relative.unwrap_or(path)
}

fn refuse(message: &str) -> ExitCode {
    anstream::eprintln!("error: {message}");
    ExitCode::from(2)
}
