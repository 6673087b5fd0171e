//! What `book analyze` and `book expand` have in common: how each position is searched, and what the job's end means.

use std::time::Duration;

use clap::{ArgGroup, Args};
use corridor_shared::job::{BookDone, BookJobSpec, BookStop, BookTask, JobLimits, RootPrune};
use corridor_shared::search::MAX_DEPTH;

use super::site::{BookArgs, Store};
use crate::analyze::pictures::{PictureArgs, Pictures};
use crate::analyze::{CrewArgs, Prune, time};
use crate::client::Client;
use crate::failure::Failure;
use crate::follow::{Ended, Interrupt, hand_in, show};
use crate::local_cluster::end_leftovers;
use crate::signals::Interrupts;
use crate::{logging, runtime, units};

/// How each position is searched, and where.
#[derive(Args, Clone, Debug)]
#[command(group(ArgGroup::new("crew").args(["workers", "threads", "hash"]).multiple(true).conflicts_with("coordinator")))]
pub(crate) struct SearchArgs {
    /// Depth of each position's search, 1 to 100 plies; positions that are known so deep are not searched again
    #[arg(long, value_name = "D", value_parser = units::whole(1..=MAX_DEPTH))]
    depth: Option<u8>,

    /// Nodes of each position's search, at least 1
    #[arg(long, value_name = "N", value_parser = units::whole(1..=u64::MAX))]
    nodes: Option<u64>,

    /// Time of each position's search, such as 500ms, 30s or 2h (us, ms, s, m, h, d), at least 1ms
    #[arg(long, value_name = "T", value_parser = time)]
    time: Option<Duration>,

    /// How many lines of each position get exact scores, 1 to 136
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = units::whole(1..=136u16))]
    multipv: u16,

    /// Which moves of each position are searched
    #[arg(long, value_name = "MODE", default_value = "cat")]
    prune: Prune,

    /// The same values for any number of workers, any schedule and any faults; slower
    #[arg(long)]
    deterministic: bool,

    /// Jobs of a higher priority are served first; any whole number
    #[arg(long, value_name = "P", default_value_t = 0, value_parser = units::whole(i32::MIN..=i32::MAX))]
    priority: i32,

    /// Hand the job in, say its number and leave; `corridor watch` shows it. Only with --coordinator
    #[arg(long, requires = "coordinator")]
    detach: bool,

    /// With --detach: wait for the end of the job all the same. Who is interrupted or killed leaves it to the cluster, and
    /// joins it again by asking for the same
    #[arg(long, requires = "detach")]
    wait: bool,

    #[command(flatten)]
    crew: CrewArgs,
}

impl SearchArgs {
    /// The job.
    ///
    /// # Errors
    /// Nothing would end the search of a position.
    pub(super) fn spec(&self, book: &BookArgs, task: BookTask) -> Result<BookJobSpec, Failure> {
        let limits = JobLimits { depth: self.depth, time: self.time, nodes: self.nodes };
        if limits == JobLimits::default() {
            return Err(Failure::bad_input(
                &"a limit for each position is wanted: --depth, --nodes or --time",
            ));
        }
        Ok(BookJobSpec {
            book: book.name.clone(),
            task,
            limits,
            multipv: self.multipv,
            prune: self.prune.into(),
            deterministic: self.deterministic,
            priority: self.priority,
            detach: self.detach,
            traceparent: None,
        })
    }
}

/// How much of the book was to be searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Every position: none may be left.
    Everything,
    /// As many as were asked for: others may be left.
    Some,
}

/// Does the job and shows it.
pub(super) fn run(
    book: &BookArgs,
    search: &SearchArgs,
    task: BookTask,
    wanted: Wanted,
    json: bool,
) -> Result<(), Failure> {
    let spec = search.spec(book, task)?;
    let interrupts = Interrupts::listen()?;
    logging::start().map_err(|error| Failure::bad_input(&error))?;
    let crew = if book.site.is_remote() { None } else { Some(search.crew.crew()?) };
    runtime::run(async {
        let work = async |client: &Client| {
            let mut waiting = interrupts.clone();
            let mut stream = tokio::select! {
                opened = client.work_on(&spec) => opened?,
                () = waiting.wait() => return Err(Failure::interrupted(&"nothing had begun yet")),
            };
            if search.detach && !search.wait {
                return hand_in(stream, interrupts, book.site.urls(), json).await;
            }
            if !book.site.is_remote() {
                // Nobody waits for what an earlier process has left unfinished, unless it was just this.
                end_leftovers(client, Some(stream.accepted().await?)).await?;
            }
            let pictures = Pictures::new(&PictureArgs::default(), RootPrune::Cat, None)?;
            let interrupt = if search.detach { Interrupt::Leaves } else { Interrupt::Cancels };
            match show(client, stream, interrupts, interrupt, pictures, json).await? {
                Ended::Position => Ok(()),
                Ended::Book(done) => verdict(&done, wanted),
            }
        };
        book.site.run(Store::Existing, crew, work).await
    })
}

/// Whether a job has done what was wanted of it.
///
/// # Errors
/// It was cancelled, a search failed, or positions are left.
pub(crate) fn verdict(done: &BookDone, wanted: Wanted) -> Result<(), Failure> {
    let left = if wanted == Wanted::Everything { done.left } else { 0 };
    let fault = match (done.stopped_by, done.failed, left) {
        (BookStop::Cancel, ..) => format!("cancelled: {} are left", positions(done.left)),
        (_, 0, 0) => return Ok(()),
        (_, 0, left) => format!("{} are left", positions(left)),
        (_, failed, _) => format!("the search of {} failed, {} are left", positions(failed), done.left),
    };
    Err(Failure::Failed(anyhow::anyhow!(fault)))
}

/// `1 position`, `1,234 positions`.
pub(super) fn positions(number: u64) -> String {
    format!("{} position{}", units::grouped(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_done_when_nothing_that_was_wanted_is_left() {
        let done = BookDone {
            positions: 9,
            searched: 5,
            added: 0,
            failed: 0,
            left: 0,
            nodes: 1,
            elapsed: Duration::ZERO,
            stopped_by: BookStop::Complete,
        };
        let said = |done: &BookDone, wanted| verdict(done, wanted).map_err(|failure| format!("{failure:?}"));
        assert_eq!(said(&done, Wanted::Everything), Ok(()));
        let left = BookDone { left: 4, ..done };
        assert_eq!(said(&left, Wanted::Some), Ok(()));
        assert!(said(&left, Wanted::Everything).unwrap_err().contains("4 positions are left"));
        let failed = BookDone { failed: 1, left: 1, ..done };
        assert!(said(&failed, Wanted::Some).unwrap_err().contains("1 position failed"));
        let cancelled = BookDone { stopped_by: BookStop::Cancel, ..done };
        assert!(said(&cancelled, Wanted::Some).unwrap_err().contains("cancelled: 0 positions"));
    }
}
