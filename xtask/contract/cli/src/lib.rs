//! The subcommands of the program `contract`, for any document and any repository.
//!
//! A command prints its findings on standard output and returns its exit status, which `../README.md` describes.
//!
//! Each module imports only from modules below it in this list; `tests/contract/main.rs` checks that.
//!
//! - `main`: the program.
//! - [`breaking`]: compares two versions of a document.
//! - [`changelog`]: prints the changes between two versions for users.
//! - [`drift`]: compares a document with the one that the code generates.
//! - [`lint`]: checks one document.
//! - [`acceptance`]: what a check of one document accepts.
//! - [`fix`]: makes the repairs of findings.

pub mod acceptance;
pub mod breaking;
pub mod changelog;
pub mod drift;
pub mod fix;
pub mod lint;

use std::path::{Path, PathBuf};

use checks::config::Config;
use checks::finding::File;
use checks::report::{self, Format, Report, Sources};
use checks::revision;
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
    /// The date with which dates in the document are compared, as YYYY-MM-DD [default: today, UTC].
    #[arg(long, value_name = "DATE")]
    pub today: Option<Date>,
}

impl Options {
    /// Returns the date with which dates are compared.
    pub fn today(&self) -> Date {
        self.today.unwrap_or_else(|| Zoned::now().with_time_zone(TimeZone::UTC).date())
    }

    /// Returns the configuration for a document.
    fn load_config(&self, document: &Path, root: &Path) -> Result<Config, File> {
        Config::load(self.config.as_deref(), &revision::in_working_tree(document, root))
    }
}

/// The result of a command.
#[derive(Debug, Default)]
struct Checked {
    files: Vec<File>,
    /// The result in one line. Empty if a file could not be used.
    summary: String,
    status: u8,
}

impl Checked {
    /// Prints the findings. Returns the exit status.
    fn print(&self, command: &str, format: Format, sources: &Sources) -> u8 {
        let report = Report { command, files: &self.files, sources, summary: &self.summary };
        report::write(&report::render(format, &report));
        self.status
    }
}

/// The result of a command that cannot use a file.
impl From<File> for Checked {
    fn from(file: File) -> Self {
        Self { files: vec![file], summary: String::new(), status: 2 }
    }
}
