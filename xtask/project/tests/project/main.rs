//! The commands of this project.

mod check;
mod dev;
mod golden;
mod licences;
mod lsp;
mod pages;
mod release;
mod rules;
mod site;
mod unreadable;
