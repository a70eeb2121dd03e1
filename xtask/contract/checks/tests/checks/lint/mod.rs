//! Linting a frozen document, edits of it for each rule, and broken documents.

mod aliases;
mod broken;
mod explanation;
mod registry;
mod renames;
mod repairs;
mod rules;
mod styles;
mod validity;
