//! A log whose messages are kept.

use std::sync::{Arc, Mutex};

use slog::{Drain, Logger, Never, OwnedKVList, Record, o};

/// The messages of a log.
#[derive(Clone, Default)]
pub(crate) struct Messages(Arc<Mutex<Vec<String>>>);

impl Messages {
    /// Returns the log.
    pub(crate) fn log(&self) -> Logger {
        Logger::root(self.clone(), o!())
    }

    /// Whether this message was logged.
    pub(crate) fn contain(&self, message: &str) -> bool {
        self.0.lock().unwrap().iter().any(|it| it == message)
    }
}

impl Drain for Messages {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, _: &OwnedKVList) -> Result<(), Never> {
        self.0.lock().unwrap().push(record.msg().to_string());
        Ok(())
    }
}
