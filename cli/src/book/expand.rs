//! `corridor book expand`: a book grows where it misses most.

use std::time::Duration;

use clap::{Args, ValueEnum};
use corridor_shared::Color;
use corridor_shared::book::{Growth, Side};
use corridor_shared::job::BookTask;

use super::search::{self, SearchArgs, Wanted};
use super::site::BookArgs;
use crate::analyze::time;
use crate::failure::Failure;
use crate::units;

const GROWTH: &str = "Growth (at least one of --positions, --max-cost and --stop-after is wanted)";

/// What `book expand` is told.
#[derive(Args)]
#[command(
    override_usage = "corridor book expand (--positions <N> | --max-cost <CM> | --stop-after <T>) \
                      (--depth <D> | --nodes <N> | --time <T>) [OPTIONS]",
    after_help = "A line costs what its moves give away against the best ones, weighted by whose move it is, and a little for \
                  each ply. The cheapest move outside the book is added next. Positions of the book that are not known well \
                  enough are searched first, for without values there is nothing to compare.\n\nExit code 0 says that the book has grown as \
                  far as was asked; 1 that a search failed, or that the job was cancelled."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    book: BookArgs,

    #[command(flatten)]
    search: SearchArgs,

    /// Add so many positions, at least 1
    #[arg(long, value_name = "N", help_heading = GROWTH, value_parser = units::whole(1..=u32::MAX))]
    positions: Option<u32>,

    /// Add nothing that costs more, in centi-squares (100 to a square)
    #[arg(long, value_name = "CM", help_heading = GROWTH, value_parser = units::whole(0..=u64::MAX))]
    max_cost: Option<u64>,

    /// Add nothing after this time, such as 30s or 2h; searches that run are finished
    #[arg(long, value_name = "T", help_heading = GROWTH, value_parser = time)]
    stop_after: Option<Duration>,

    /// For whom the book is made: whose moves are its own
    #[arg(long, value_name = "SIDE", default_value = "both", help_heading = GROWTH)]
    side: SideArg,

    /// What each centi-square costs that an own move gives away, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = Growth::default().own_weight, help_heading = GROWTH,
          value_parser = units::whole(0..=u32::MAX))]
    own_weight: u32,

    /// What each centi-square costs that a move of the other side gives away, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = Growth::default().other_weight, help_heading = GROWTH,
          value_parser = units::whole(0..=u32::MAX))]
    other_weight: u32,

    /// What each ply costs, in centi-squares
    #[arg(long, value_name = "CM", default_value_t = Growth::default().ply_cost, help_heading = GROWTH,
          value_parser = units::whole(0..=u32::MAX))]
    ply_cost: u32,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SideArg {
    /// Whoever plays White
    White,
    /// Whoever plays Black
    Black,
    /// Either of them: a line costs what it costs the one for whom it is cheaper
    Both,
}

impl From<SideArg> for Side {
    fn from(side: SideArg) -> Self {
        match side {
            SideArg::White => Self::Of(Color::White),
            SideArg::Black => Self::Of(Color::Black),
            SideArg::Both => Self::Both,
        }
    }
}

impl Arguments {
    fn task(&self) -> Result<BookTask, Failure> {
        if self.positions.is_none() && self.max_cost.is_none() && self.stop_after.is_none() {
            return Err(Failure::bad_input(
                &"an end of the growth is wanted: --positions, --max-cost or --stop-after",
            ));
        }
        let growth = Growth {
            side: self.side.into(),
            own_weight: self.own_weight,
            other_weight: self.other_weight,
            ply_cost: self.ply_cost,
            max_cost: self.max_cost,
        };
        Ok(BookTask::Expand { positions: self.positions, growth, time: self.stop_after })
    }
}

/// Grows the book and shows what happens.
pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<(), Failure> {
    search::run(&arguments.book, &arguments.search, arguments.task()?, Wanted::Some, json)
}
