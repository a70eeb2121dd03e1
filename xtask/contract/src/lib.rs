//! The subcommands of the program `contract`, for any document and any repository.
//!
//! A command prints its findings on standard output and returns its exit status: 0 without errors, 1 with errors,
//! 2 if a file, or a part that had to be compared, could not be read as OpenAPI 3.0, or a file as a configuration.
//!
//! Each module imports only from modules below it in this list; `tests/layers.rs` checks that.
//!
//! - `main`: the program.
//! - [`breaking`]: compares two versions of a document.
//! - [`changelog`]: prints the changes between two versions for users.
//! - [`drift`]: compares a document with the one that the code generates.
//! - [`lint`]: checks one document.
//! - `values`: the values of options that are one of a few names.
//! - [`fix`]: makes the repairs of findings.
//! - `diff`: the difference of two texts.
//! - `revision`: reads a document, also from a revision of git.

pub mod breaking;
pub mod changelog;
mod diff;
pub mod drift;
pub mod fix;
pub mod lint;
mod revision;
mod values;

use std::path::{Path, PathBuf};

use checks::config::Config;
use checks::report::{self, About, Format, Report, Sources};
use document::finding::{Finding, Severity};
use document::rule::Profile;
use document::{Document, Unreadable};
use jiff::Zoned;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// The options that the commands share.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub struct Options {
    /// The configuration [default: contract.toml beside the document, or the nearest above it in the repository].
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The rules that apply, instead of the configuration's profile [default: recommended].
    #[arg(long, value_parser = values::profile(), value_name = "PROFILE")]
    pub profile: Option<Profile>,
    /// The date with which dates in the document are compared, as YYYY-MM-DD [default: today, UTC].
    #[arg(long, value_name = "DATE")]
    pub today: Option<Date>,
    /// The format of the findings.
    #[arg(long, value_parser = values::format(), default_value = "text", value_name = "FORMAT")]
    pub format: Format,
}

impl Options {
    /// Returns the date with which dates are compared.
    pub fn today(&self) -> Date {
        self.today.unwrap_or_else(|| Zoned::now().with_time_zone(TimeZone::UTC).date())
    }

    /// Returns the configuration for a document, or prints its errors as the report of a command.
    ///
    /// # Errors
    /// Returns the exit status.
    pub fn load_config(&self, command: &str, document: &Path, root: &Path) -> Result<Config, u8> {
        let config = Config::load(self.config.as_deref(), &revision::in_working_tree(document, root));
        let config = config.map_err(|it| {
            self.refuse(command, &[About { path: &it.path, text: &it.text, findings: &it.findings }], root)
        })?;
        Ok(config.with_profile(self.profile))
    }

    /// Reads a document, or prints the error as the report of a command.
    ///
    /// # Errors
    /// Returns the exit status.
    pub fn load_document(&self, command: &str, path: &Path, root: &Path) -> Result<Document, u8> {
        revision::load(path).map_err(|unreadable| self.refuse_documents(command, &[unreadable], root))
    }

    /// Prints the reasons why documents cannot be read, in one report.
    fn refuse_documents(&self, command: &str, unreadable: &[Unreadable], root: &Path) -> u8 {
        let findings: Vec<_> = unreadable.iter().map(|it| [Finding::from(it)]).collect();
        let files: Vec<_> = unreadable
            .iter()
            .zip(&findings)
            .map(|(it, findings)| About { path: &it.path, text: &it.text, findings })
            .collect();
        self.refuse(command, &files, root)
    }

    /// Prints the reasons why files cannot be used.
    fn refuse(&self, command: &str, files: &[About<'_>], root: &Path) -> u8 {
        let sources = Sources::new(root);
        report::print(self.format, &Report { command, files, sources: &sources, summary: "" });
        2
    }
}

/// Returns the exit status for findings: 0 without errors, 1 with errors, 2 if something could not be read.
pub fn exit_status(findings: &[Finding]) -> u8 {
    match findings.iter().map(|finding| finding.severity).max() {
        None | Some(Severity::Info | Severity::Warning) => 0,
        Some(Severity::Error) => 1,
        Some(Severity::Unreadable) => 2,
    }
}
