//! `corridor`: the one binary. One file a subcommand; this one starts, dispatches and ends.
//!
//! Exit codes: 0 done, 1 the work failed, 2 bad usage or bad input. What goes wrong is one line on standard error.

mod analyze;
mod args;
mod bench;
mod convert;
mod failure;
mod heat;
mod legal;
mod local_cluster;
mod logging;
mod memory;
mod out;
mod perft;
mod position_args;
mod processor;
mod render;
mod signals;
mod simulate;
mod uci;
mod units;

use std::process::ExitCode;

use args::{Cli, Command};
use failure::Failure;

fn main() -> ExitCode {
    // Before anything else, and apart from it: other code may already use instructions that an older processor lacks.
    processor::check();
    start()
}

#[inline(never)]
fn start() -> ExitCode {
    match Cli::read() {
        Ok(cli) => match run(&cli) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failure::report(&failure),
        },
        Err(error) => failure::report_usage(&error),
    }
}

fn run(cli: &Cli) -> Result<(), Failure> {
    match &cli.command {
        Command::Analyze(arguments) => analyze::run(arguments, cli.json),
        Command::Legal(arguments) => legal::run(arguments, cli.json),
        Command::Perft(arguments) => perft::run(arguments, cli.json),
        Command::Convert(arguments) => convert::run(arguments, cli.json),
        Command::Heat(arguments) => heat::run(arguments, cli.json),
        Command::Bench(arguments) => bench::run(arguments, cli.json),
        Command::Simulate(arguments) => simulate::run(arguments, cli.json),
        Command::Uci(arguments) => {
            arguments.check()?;
            uci::run()
        }
    }
}
