//! `cargo xtask pictures`: makes the pictures of the README, each in light and dark, in `xtask/pictures`.
//!
//! `editor-*.svg` is a session of Neovim with the language server (`pictures/editor.lua`), in a terminal of tmux.
//! `docs-*.png` are the screenshots of an operation at `/docs` that `cargo xtask interop docs` takes.

use std::path::Path;
use std::process::Command;
use std::time::Duration;
use std::{env, fs};

use anstyle_svg::{Palette, Term};
use launcher::workspace::{in_file, target, workspace};
use tempfile::TempDir;

use crate::interop::{self, Part};
use crate::process;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/pictures/editor.lua");
/// The size of the terminal, in characters.
const SIZE: [&str; 4] = ["-x", "88", "-y", "17"];
const LIMIT: Duration = Duration::from_secs(90);

/// The colours of a terminal: the 16 of ANSI, then those of text and background.
const THEMES: [(&str, [u32; 18]); 2] = [
    (
        "light",
        [
            0x24292f, 0xcf222e, 0x116329, 0x4d2d00, 0x0550ae, 0x8250df, 0x1b7c83, 0x6e7781, 0x57606a,
            0xa40e26, 0x1a7f37, 0x633c01, 0x218bff, 0xa475f9, 0x3192aa, 0x8c959f, 0x1f2328, 0xf6f8fa,
        ],
    ),
    (
        "dark",
        [
            0x484f58, 0xff7b72, 0x3fb950, 0xd29922, 0x58a6ff, 0xbc8cff, 0x39c5cf, 0xb1bac4, 0x6e7681,
            0xffa198, 0x56d364, 0xe3b341, 0x79c0ff, 0xd2a8ff, 0x56d4dd, 0xf0f6fc, 0xe6edf3, 0x161b22,
        ],
    ),
];

/// Makes all pictures. Returns the exit status.
///
/// # Errors
/// When a program cannot be run, or a file cannot be written.
pub fn run() -> Result<u8, String> {
    let pictures = workspace().join("xtask/pictures");
    let program = env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    for (name, colours) in THEMES {
        let picture = drawn(&editor(&program, name)?, colours);
        write(&pictures.join(format!("editor-{name}.svg")), picture.as_bytes())?;
    }
    let status = interop::run(&interop::Options { parts: vec![Part::Docs], ..Default::default() })?;
    if status == 0 {
        for (name, _) in THEMES {
            let screenshot = target(&program)?.join(format!("interop/screenshots/docs-{name}.png"));
            let content = fs::read(&screenshot).map_err(in_file(&screenshot))?;
            write(&pictures.join(format!("docs-{name}.png")), &content)?;
        }
    }
    Ok(status)
}

/// Runs the session. Returns the screen of the terminal, with ANSI escape codes.
fn editor(program: &Path, background: &str) -> Result<String, String> {
    let directory = TempDir::new().map_err(|error| format!("cannot create a directory: {error}"))?;
    let socket = directory.path().join("tmux");
    let picture = directory.path().join("picture");
    let session = format!("nvim -u NONE -i NONE -n -c 'luafile {SCRIPT}' -c cquit; tmux wait-for -S done");
    let mut tmux = Command::new("tmux");
    tmux.arg("-S").arg(&socket).args(["-f", "/dev/null", "new-session", "-d"]).args(SIZE).arg(session);
    tmux.args([";", "wait-for", "done"]).current_dir(workspace());
    tmux.env("BACKGROUND", background).env("XTASK", program).env("PICTURE", &picture);
    process::run("tmux", &mut tmux, directory.path(), LIMIT)
        .map_err(|error| format!("{error}; on Debian: apt-get install tmux neovim"))?;
    fs::read_to_string(&picture).map_err(|error| format!("the session of Neovim failed: {error}"))
}

/// Returns the picture of a screen.
fn drawn(screen: &str, colours: [u32; 18]) -> String {
    let colour = |rgb: u32| {
        let [_, red, green, blue] = rgb.to_be_bytes();
        (red, green, blue)
    };
    let [palette @ .., text, background] = colours.map(colour);
    let term = Term::new().palette(Palette(palette.map(Into::into)));
    term.fg_color(text.into()).bg_color(background.into()).render_svg(screen.trim_end())
}

fn write(picture: &Path, content: &[u8]) -> Result<(), String> {
    fs::write(picture, content).map_err(in_file(picture))?;
    println!("{}: {} KB", picture.display(), content.len().div_ceil(1000));
    Ok(())
}
