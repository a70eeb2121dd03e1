//! The way of a request in and of its response out.

pub mod access_log;
pub mod call;
mod field_error;
pub mod input;
mod published;
pub mod responses;
pub mod router;
mod unread_body;
