//! capmatrix runs real MCP clients offline, sends them scripted protocol messages, records every byte and
//! judges the recordings by the specification.
//!
//! Read the modules in the order in which data flows: [`catalogue`] and [`clients`] say what there is,
//! [`plan`] makes sessions of it, [`run`] is the only stage with processes, sockets and clocks
//! (with [`probe_server`] and [`model`] on either side of the client), [`recording`] is what it leaves.
//! Everything after that is a pure function: [`outcome`], [`verdict`] (by the rules of [`spec`]), [`matrix`], [`render`].

pub mod catalogue;
pub mod cli;
pub mod clients;
pub mod commands;
pub mod fakes;
pub mod loopback;
pub mod matrix;
pub mod model;
pub mod names;
pub mod outcome;
pub mod plan;
pub mod probe_server;
pub mod recording;
pub mod render;
pub mod run;
pub mod spec;
#[cfg(test)]
mod testing;
mod toml_error;
pub mod verdict;
