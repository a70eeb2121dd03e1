//! The commands of the people who work on the document and the service.
//!
//! `cargo xtask check` is a short pipeline: what is [`written`], what is [`served`], [`compare`] them, look
//! up each [`finding`] in the [`source`], and [`report`] it.

pub mod bench;
pub mod breaking;
pub mod check;
pub mod ci;
pub mod compare;
pub mod faults;
pub mod finding;
pub mod licences;
pub mod lint;
pub mod outside;
mod process;
pub mod release;
pub mod report;
pub mod scaffold;
pub mod serve;
pub mod served;
pub mod source;
pub mod watch;
pub mod written;
