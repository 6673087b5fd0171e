//! The command line's first level: the subcommands and what all of them understand.

use clap::{Parser, Subcommand};

use crate::{analyze, bench, convert, heat, legal, perft};

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
    /// Speak UCI over standard input and output
    Uci,
}
