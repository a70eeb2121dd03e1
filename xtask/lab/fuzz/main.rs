//! Runs libFuzzer on the target that the variable `FUZZ_TARGET` names.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use rules::{TARGETS, Target};

mod rules;

static CHECK: OnceLock<Target> = OnceLock::new();

/// Returns the check of the target that the environment names.
fn check() -> Target {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let found = TARGETS.iter().find(|(target, _)| *target == name);
    let names = TARGETS.map(|(name, _)| name).join(", ");
    found.unwrap_or_else(|| panic!("FUZZ_TARGET must be one of {names}; it is `{name}`")).1
}

fuzz_target!(|input: &[u8]| CHECK.get_or_init(check)(input));
