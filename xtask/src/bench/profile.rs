//! Reads what callgrind writes:
//! <https://valgrind.org/docs/manual/cl-format.html>.

use std::collections::HashMap;

/// The sums of a profile of callgrind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Executed instructions.
    pub instructions: u64,
    /// Calls of functions that allocate memory or enlarge an allocation.
    pub allocations: u64,
}

/// Reads a profile of callgrind.
///
/// # Errors
/// A message, if a total or the name of a function is missing.
pub fn read(text: &str) -> Result<Profile, String> {
    let mut names = Names::default();
    let (mut caller, mut called) = (false, false);
    let (mut instructions, mut allocations) = (None, 0);
    for line in text.lines() {
        if let Some(total) = line.strip_prefix("summary: ").or_else(|| line.strip_prefix("totals: ")) {
            instructions = total.trim().parse().ok();
        } else if let Some(name) = line.strip_prefix("fn=") {
            caller = allocates(names.resolve(name)?);
        } else if let Some(name) = line.strip_prefix("cfn=") {
            called = allocates(names.resolve(name)?);
        } else if let Some(calls) = line.strip_prefix("calls=") {
            let count = calls.split(' ').next().and_then(|count| count.parse::<u64>().ok());
            let count = count.ok_or_else(|| format!("not a number of calls: {line}"))?;
            // An allocator's functions call each other.
            allocations += if called && !caller { count } else { 0 };
        }
    }
    let instructions = instructions.ok_or("the profile has no total")?;
    Ok(Profile { instructions, allocations })
}

/// The names of functions: `(7) name` defines number 7, `(7)` refers to it.
#[derive(Default)]
struct Names<'t>(HashMap<&'t str, &'t str>);

impl<'t> Names<'t> {
    fn resolve(&mut self, text: &'t str) -> Result<&'t str, String> {
        match text.split_once(' ') {
            Some((number, name)) => {
                self.0.insert(number, name);
                Ok(name)
            }
            None => self.0.get(text).copied().ok_or_else(|| format!("function {text} has no name")),
        }
    }
}

/// Returns whether this is an entry point of an allocator: of the C library or of mimalloc.
fn allocates(function: &str) -> bool {
    // Recursive calls and versions of symbols have a suffix: `malloc'2`, `malloc@@GLIBC_2.2.5`.
    let name = function.split(['\'', '@']).next().unwrap_or_default();
    match name.strip_prefix("mi_") {
        Some(name) => ["malloc", "zalloc", "calloc", "realloc"].iter().any(|start| name.starts_with(start)),
        None => {
            ["malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign"].contains(&name)
        }
    }
}
