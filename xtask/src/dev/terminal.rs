//! The keys and signals that control `cargo xtask dev`.

use std::io::{self, IsTerminal as _, Read as _};
use std::sync::mpsc::Sender;
use std::thread;

use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::event::Event;

/// Reads keys without waiting for the end of a line. Restores the terminal when dropped.
pub(super) struct Keyboard {
    before: Option<Termios>,
}

impl Keyboard {
    /// Sends [`Event::Summary`] for Enter and [`Event::Stop`] for `q` or a closed terminal. Without a terminal, the
    /// same keys are read from standard input.
    pub(super) fn read(events: Sender<Event>) -> Self {
        let is_terminal = io::stdin().is_terminal();
        if is_terminal && tcgetpgrp(io::stdin()) != Ok(getpgrp()) {
            // Started with `&`: using the terminal would stop the process.
            return Self { before: None };
        }
        let before = tcgetattr(io::stdin()).ok();
        if let Some(mut modes) = before.clone() {
            // Signals such as that of Ctrl-C stay on.
            modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
            // If this fails, `q` needs Enter.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &modes);
        }
        thread::spawn(move || {
            let mut key = [0];
            loop {
                let event = match io::stdin().read(&mut key) {
                    Ok(1) if matches!(key[0], b'\n' | b'\r') => Event::Summary,
                    Ok(1) if key[0] == b'q' => Event::Stop,
                    Ok(1) => continue,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    // A service manager gives no standard input, which must not end the command.
                    _ if !is_terminal => return,
                    _ => Event::Stop,
                };
                let is_last = matches!(event, Event::Stop);
                if events.send(event).is_err() || is_last {
                    return;
                }
            }
        });
        Self { before }
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // Fails if the terminal was closed.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
    }
}

/// Sends [`Event::Stop`] for Ctrl-C, SIGTERM, and the closing of the terminal.
pub(super) fn stop_on_signals(events: Sender<Event>) -> Result<(), String> {
    let signals = Signals::new([SIGINT, SIGTERM, SIGHUP]);
    let mut signals = signals.map_err(|error| format!("cannot register signal handlers: {error}"))?;
    thread::spawn(move || {
        for _ in signals.forever() {
            if events.send(Event::Stop).is_err() {
                return;
            }
        }
    });
    Ok(())
}
