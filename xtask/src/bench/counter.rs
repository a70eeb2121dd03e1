//! Counts the instructions of a process: with the counters of the processor, which `perf stat` reads, or, without them,
//! with valgrind's callgrind, which runs the process on a simulated processor and sees user space only.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use launcher::process::output;
use launcher::workspace::in_file;

use super::profile;

/// The events of `perf stat`, in the order of the fields of [`Counts`].
const EVENTS: &str = "instructions:u,instructions:k,cycles";

/// A way to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counter {
    Perf,
    Callgrind,
}

/// What one or more processes did. `None`: not measured.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Instructions in user mode.
    pub(super) user: Option<u64>,
    /// Instructions in kernel mode.
    pub(super) kernel: Option<u64>,
    pub(super) cycles: Option<u64>,
    /// Calls of functions that allocate memory or enlarge an allocation.
    pub(super) allocations: Option<u64>,
}

impl Counter {
    /// Returns the best way that this machine offers, and says which. Without any it says what is missing.
    pub(super) fn find(directory: &Path) -> Option<Self> {
        match Self::available(directory) {
            Ok(counter) => {
                println!("bench: {}", counter.description());
                Some(counter)
            }
            Err(missing) => {
                println!("bench: instructions are not measured: {missing}");
                None
            }
        }
    }

    /// Returns the best way that this machine offers.
    pub(super) fn available(directory: &Path) -> Result<Self, String> {
        let file = directory.join("perf.csv");
        let mut probe = Command::new("perf");
        probe.args(["stat", "--field-separator=,", "--event", EVENTS, "--output"]).arg(&file).arg("true");
        if output(&mut probe).is_ok()
            && fs::read_to_string(&file).is_ok_and(|csv| counted(&csv).user.is_some())
        {
            return Ok(Self::Perf);
        }
        if output(Command::new("valgrind").arg("--version")).is_ok() {
            return Ok(Self::Callgrind);
        }
        Err("the processor's counters cannot be read with `perf stat`, and valgrind is not installed; on Debian: \
             apt-get install valgrind"
            .to_owned())
    }

    /// A sentence for the user.
    pub(super) fn description(self) -> &'static str {
        match self {
            Self::Perf => "counting with the counters of the processor (perf stat)",
            Self::Callgrind => {
                "the counters of the processor cannot be read here; counting with callgrind, which sees neither the \
                 kernel, nor cycles, nor servers with several processes"
            }
        }
    }

    /// A name for files and tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Perf => "perf",
            Self::Callgrind => "callgrind",
        }
    }

    /// Returns the program with its arguments that starts a server whose instructions are counted; none to start the
    /// server itself.
    pub(super) fn launcher(self, directory: &Path) -> Vec<String> {
        match self {
            Self::Perf => Vec::new(),
            Self::Callgrind => {
                let file = directory.join("callgrind.%p");
                let files = format!("--callgrind-out-file={}", file.display());
                ["valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no", &files]
                    .map(str::to_owned)
                    .to_vec()
            }
        }
    }

    /// Counts what the processes do during `work`. callgrind counts only a single process that its
    /// [`Self::launcher`] started.
    pub(super) fn count(
        self,
        processes: &[u32],
        directory: &Path,
        work: impl FnOnce() -> Result<(), String>,
    ) -> Result<Counts, String> {
        match (self, processes) {
            (Self::Perf, _) => perf(processes, directory, work),
            (Self::Callgrind, [process]) => callgrind(*process, directory, work),
            (Self::Callgrind, _) => work().map(|()| Counts::default()),
        }
    }
}

/// Attaches `perf stat` for as long as a command runs that ends with its standard input.
fn perf(
    processes: &[u32],
    directory: &Path,
    work: impl FnOnce() -> Result<(), String>,
) -> Result<Counts, String> {
    let processes = processes.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let file = directory.join(format!("perf-{processes}.csv"));
    let mut perf = Command::new("perf");
    perf.args(["stat", "--field-separator=,", "--event", EVENTS, "--pid", &processes, "--output"]).arg(&file);
    perf.args(["--", "sh", "-c", "echo attached; cat"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut perf = perf.spawn().map_err(|error| format!("cannot run perf: {error}"))?;
    let stdin = perf.stdin.take();
    let mut attached = String::new();
    if let Some(stdout) = perf.stdout.take() {
        let read = BufReader::new(stdout).read_line(&mut attached);
        read.map_err(|error| format!("cannot read what perf prints: {error}"))?;
    }
    let worked = work();
    drop(stdin);
    let status = perf.wait().map_err(|error| format!("cannot wait for perf: {error}"))?;
    worked?;
    if attached.is_empty() || !status.success() {
        return Err(format!("perf stat cannot attach to {processes}: {status}"));
    }
    Ok(counted(&fs::read_to_string(&file).map_err(in_file(&file))?))
}

fn counted(csv: &str) -> Counts {
    let [user, kernel, cycles] = profile::events(csv, ["instructions:u", "instructions:k", "cycles"]);
    Counts { user, kernel, cycles, allocations: None }
}

/// Switches the counting of a process under callgrind on and off, and reads the profile that it writes.
fn callgrind(
    process: u32,
    directory: &Path,
    work: impl FnOnce() -> Result<(), String>,
) -> Result<Counts, String> {
    let control = |command: &[&str]| {
        let output = output(Command::new("vgdb").arg(format!("--pid={process}")).args(command))?;
        let error = || format!("vgdb: {}", String::from_utf8_lossy(&output.stderr).trim());
        output.status.success().then_some(()).ok_or_else(error)
    };
    control(&["instrumentation", "on"])?;
    control(&["zero"])?;
    work()?;
    control(&["dump"])?;
    control(&["instrumentation", "off"])?;
    let file = dump(process, directory)?;
    let mut text = Vec::new();
    // Names of functions may be cut in the middle of a letter.
    fs::File::open(&file).and_then(|mut file| file.read_to_end(&mut text)).map_err(in_file(&file))?;
    fs::remove_file(&file).map_err(in_file(&file))?;
    let profile = profile::read(&String::from_utf8_lossy(&text)).map_err(in_file(&file))?;
    Ok(Counts {
        user: Some(profile.instructions),
        allocations: Some(profile.allocations),
        ..Counts::default()
    })
}

/// Returns the only dump of a process: callgrind appends the number of the dump to the name of the file.
fn dump(process: u32, directory: &Path) -> Result<PathBuf, String> {
    let prefix = format!("callgrind.{process}.");
    let entries = fs::read_dir(directory).map_err(in_file(directory))?;
    let mut paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let found =
        paths.find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix)));
    found.ok_or_else(|| format!("{}: callgrind wrote no {prefix}*", directory.display()))
}
