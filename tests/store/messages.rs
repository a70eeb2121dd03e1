//! A log whose records are kept.

use std::fmt::{Arguments, Write as _};
use std::sync::{Arc, Mutex};

use slog::{Drain, KV as _, Key, Logger, Never, OwnedKVList, Record, Serializer, o};

/// The records of a log: each message with its values.
#[derive(Clone, Default)]
pub(crate) struct Messages(Arc<Mutex<Vec<(String, Values)>>>);

/// The values of a record, as text.
#[derive(Default)]
struct Values(String);

impl Serializer for Values {
    fn emit_arguments(&mut self, key: Key, value: &Arguments<'_>) -> slog::Result {
        write!(self.0, "{key}={value} ").map_err(Into::into)
    }
}

impl Messages {
    /// Returns the log.
    pub(crate) fn log(&self) -> Logger {
        Logger::root(self.clone(), o!())
    }

    /// Whether this message was logged.
    pub(crate) fn contain(&self, message: &str) -> bool {
        self.count(message) > 0
    }

    /// How often this message was logged.
    pub(crate) fn count(&self, message: &str) -> usize {
        self.0.lock().unwrap().iter().filter(|(it, _)| it == message).count()
    }

    /// Whether this message was logged with values that contain `text`.
    pub(crate) fn contain_with(&self, message: &str, text: &str) -> bool {
        self.0.lock().unwrap().iter().any(|(it, values)| it == message && values.0.contains(text))
    }
}

impl Drain for Messages {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, _: &OwnedKVList) -> Result<(), Never> {
        let mut values = Values::default();
        record.kv().serialize(record, &mut values).unwrap();
        self.0.lock().unwrap().push((record.msg().to_string(), values));
        Ok(())
    }
}
