//! The command line: parse, run, say what went wrong, exit.

use std::process::ExitCode;

use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match capmatrix::commands::run(capmatrix::cli::Cli::parse()) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => failure.report(),
    }
}
