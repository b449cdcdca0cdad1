//! Matrix -> text, one file a format. Pure.

pub mod escape;
pub mod human;
pub mod json;
pub mod markdown;
mod square;
pub mod table;
