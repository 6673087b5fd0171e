//! The command line's first level: the subcommands, what all of them understand, and what holds for every flag.

use std::any::TypeId;
use std::path::PathBuf;

use clap::builder::{BoolishValueParser, Resettable};
use clap::{Arg, ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use corridor_coordinator::store::Place;

use crate::failure::Failure;
use crate::{
    analyze, bench, book, convert, coordinator, health, heat, jobs, legal, perft, serve, simulate, steer,
    watch, worker, workers,
};

/// Corridor analyses Quoridor positions, alone or on a cluster.
#[derive(Parser)]
#[command(name = "corridor", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Print compact JSON on standard output, and nothing else there
    #[arg(long, global = true, env = "CORRIDOR_JSON")]
    pub(crate) json: bool,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Analyse a position in depth, on a cluster: the main job
    Analyze(analyze::Arguments),
    /// Opening books: import, analyse, grow, look at and export them
    Book(book::Arguments),
    /// Run a coordinator and workers in one process, for others to use
    Serve(serve::Arguments),
    /// Run the coordinator of a cluster
    Coordinator(coordinator::Arguments),
    /// Run a worker of a cluster
    Worker(worker::Arguments),
    /// Follow a job of a cluster
    Watch(watch::Arguments),
    /// List the jobs of a cluster, newest first
    Jobs(jobs::Arguments),
    /// End a job with what is known
    Cancel(steer::Arguments),
    /// Hold a job
    Pause(steer::Arguments),
    /// Let a job that is held go on
    Resume(steer::Arguments),
    /// List the workers of a cluster
    Workers(workers::Arguments),
    /// Ask a server whether it is well: a probe for containers
    Health(health::Arguments),
    /// List the legal moves of a position
    Legal(legal::Arguments),
    /// Count the move tree below a position
    Perft(perft::Arguments),
    /// Translate moves from one notation to another
    Convert(convert::Arguments),
    /// Show where walls and steps matter: the Corridor Attention Table
    Heat(heat::Arguments),
    /// Search fixed positions: the speed, and the build's signature
    Bench(bench::Arguments),
    /// What a cluster of so many workers would do, in virtual time
    Simulate(simulate::Arguments),
    /// Speak UCI over standard input and output
    Uci(UciArguments),
}

/// `uci` has a language of its own on standard output: of the flag that all others have it takes the place, so that it is
/// not offered.
#[derive(Args)]
pub(crate) struct UciArguments {
    #[arg(long, id = "json", hide = true)]
    json: bool,
}

impl UciArguments {
    /// Refuses the flag. Its variable is for the other commands, and may be set.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.json && std::env::args_os().any(|argument| argument == "--json") {
            return Err(Failure::bad_input(&"uci has no --json: it speaks UCI"));
        }
        Ok(())
    }
}

impl Cli {
    /// Reads the command line and the environment.
    ///
    /// # Errors
    /// As clap says it; [`crate::failure::report_usage`] says it in one line.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let mut matches = command().try_get_matches()?;
        Self::from_arg_matches_mut(&mut matches)
    }
}

/// The command line with what holds for every flag.
pub(crate) fn command() -> clap::Command {
    prepared(Cli::command())
}

fn prepared(command: clap::Command) -> clap::Command {
    command.mut_args(prepared_argument).mut_subcommands(prepared)
}

/// An empty variable counts as unset, a switch takes 1, true, yes and on (and their opposites) from its variable, and
/// what looks like a flag is a value where one is wanted, so that `--depth -1` is a wrong depth and no unknown flag. Names
/// of files are the exception: `--svg --html` is a slip.
fn prepared_argument(mut argument: Arg) -> Arg {
    let variable = argument.get_env().and_then(std::env::var_os);
    if variable.is_some_and(|value| value.is_empty()) {
        argument = argument.env(Resettable::Reset);
    }
    if matches!(argument.get_action(), ArgAction::SetTrue) {
        return argument.value_parser(BoolishValueParser::new());
    }
    let type_id = argument.get_value_parser().type_id();
    let names_file = type_id == TypeId::of::<PathBuf>() || type_id == TypeId::of::<Place>();
    if argument.get_long().is_some() && argument.get_action().takes_values() && !names_file {
        argument = argument.allow_hyphen_values(true);
    }
    argument
}

/// The variable that a flag got its value from, if it was not given on the command line. `flag` as clap shows it:
/// `--threads <N>`.
pub(crate) fn variable_behind(flag: &str) -> Option<String> {
    let long = flag.split([' ', '=']).next()?.strip_prefix("--")?;
    let given = |argument: std::ffi::OsString| {
        let text = argument.to_string_lossy().into_owned();
        text.strip_prefix("--").is_some_and(|rest| rest.split('=').next() == Some(long))
    };
    if std::env::args_os().any(given) {
        return None;
    }
    variables().into_iter().find(|(name, _)| name == long).map(|(_, variable)| variable)
}

/// The flags that have a variable which is set.
pub(crate) fn variables() -> Vec<(String, String)> {
    let command = command();
    let all = command.get_subcommands().chain([&command]).flat_map(clap::Command::get_arguments);
    all.filter_map(|argument| {
        let variable = argument.get_env().filter(|name| std::env::var_os(name).is_some())?;
        Some((argument.get_long()?.to_owned(), variable.to_string_lossy().into_owned()))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_declaration_is_sound() {
        super::command().debug_assert();
    }
}
