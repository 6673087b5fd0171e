//! `corridor`: the one binary. One file a subcommand; this one starts, dispatches and ends.
//!
//! Exit codes: 0 done, 1 the work failed, 2 bad usage or bad input. What goes wrong is one line on standard error.

mod analyze;
mod args;
mod bench;
mod book;
mod client;
mod control_group;
mod convert;
mod coordinator;
mod failure;
mod follow;
mod health;
mod heat;
mod http;
mod jobs;
mod legal;
mod listen;
mod listing;
mod local_cluster;
mod logging;
mod memory;
mod out;
mod overwrite;
mod perft;
mod position_args;
mod processor;
mod pulse;
mod render;
mod runtime;
mod serve;
mod signals;
mod simulate;
mod steer;
mod store;
mod uci;
mod units;
mod watch;
mod worker;
mod workers;

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
        Command::Serve(arguments) => serve::run(arguments),
        Command::Coordinator(arguments) => coordinator::run(arguments),
        Command::Worker(arguments) => worker::run(arguments),
        Command::Watch(arguments) => watch::run(arguments, cli.json),
        Command::Jobs(arguments) => jobs::run(arguments, cli.json),
        Command::Cancel(arguments) => steer::run(arguments, steer::Order::Cancel, cli.json),
        Command::Pause(arguments) => steer::run(arguments, steer::Order::Pause, cli.json),
        Command::Resume(arguments) => steer::run(arguments, steer::Order::Resume, cli.json),
        Command::Workers(arguments) => workers::run(arguments, cli.json),
        Command::Health(arguments) => health::run(arguments, cli.json),
        Command::Book(arguments) => book::run(arguments, cli.json),
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
