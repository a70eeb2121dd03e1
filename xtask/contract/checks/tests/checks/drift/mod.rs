//! Drift between the frozen document and the document of its code, with edits of either.

mod code_changed;
mod document;
mod document_changed;
mod hostile;
mod messages;
mod mutated;
mod repairs;
mod rules;
mod same;
