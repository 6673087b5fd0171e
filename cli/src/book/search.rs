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
use crate::follow::{Ended, Interrupt, View, hand_in, show};
use crate::local_cluster::end_leftovers;
use crate::signals::Interrupts;
use crate::{logging, out, runtime, units};

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

/// Does the work, job after job, and shows it.
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
    let jobs = Jobs { book, search, interrupts, json };
    runtime::run(async {
        let work = async |client: &Client| {
            let ask = async |task| jobs.one(client, &BookJobSpec { task, ..spec.clone() }).await;
            match all(&book.name, task, ask).await? {
                Some(done) => verdict(&done, wanted),
                None => Ok(()),
            }
        };
        book.site.run(Store::Existing, crew, &jobs.interrupts, work).await
    })
}

/// What the jobs of a command have in common.
struct Jobs<'a> {
    book: &'a BookArgs,
    search: &'a SearchArgs,
    interrupts: Interrupts,
    json: bool,
}

impl Jobs<'_> {
    /// Does one job and shows it; `None` if it was only handed in.
    async fn one(&self, client: &Client, spec: &BookJobSpec) -> Result<Option<BookDone>, Failure> {
        let Self { book, search, interrupts, json } = self;
        let mut waiting = interrupts.clone();
        let mut stream = tokio::select! {
            opened = client.work_on(spec) => opened?,
            () = waiting.wait() => return Err(Failure::interrupted(&"nothing had begun yet")),
        };
        if search.detach && !search.wait {
            hand_in(stream, interrupts.clone(), book.site.urls(), *json).await?;
            return Ok(None);
        }
        if !book.site.is_remote() {
            // Nobody waits for what an earlier process has left unfinished, unless it was just this.
            end_leftovers(client, Some(stream.accepted().await?)).await?;
        }
        let pictures = Pictures::new(&PictureArgs::default(), RootPrune::Cat, None)?;
        let interrupt = if search.detach { Interrupt::Leaves } else { Interrupt::Cancels };
        match show(client, stream, interrupts.clone(), interrupt, pictures, View::of(*json)).await? {
            Ended::Position => Ok(None),
            Ended::Book(done) => Ok(Some(done)),
        }
    }
}

/// Has job after job done, as long as one leaves something to the next and they get on. Returns the end of the last one.
async fn all(
    book: &str,
    mut task: BookTask,
    ask: impl AsyncFn(BookTask) -> Result<Option<BookDone>, Failure>,
) -> Result<Option<BookDone>, Failure> {
    let mut before = None;
    loop {
        let Some(done) = ask(task).await? else { return Ok(None) };
        let Some(next) = rest(task, &done, before) else { return Ok(Some(done)) };
        let text = format!("book {book}: {} for the next job: asking again", left(done.left));
        out::notice(&text);
        (task, before) = (next, Some(done.left));
    }
}

/// What a job has left to the next one, for one takes only so many positions: the rest of the book, or of the part that is wanted.
/// `None` if that is nothing, or nothing that the next one would get on with; `before` is what the one before it had left.
fn rest(task: BookTask, done: &BookDone, before: Option<u64>) -> Option<BookTask> {
    let BookTask::Analyze { stale, most } = task else { return None };
    let tried = u32::try_from(done.searched + done.failed).unwrap_or(u32::MAX);
    let most = most.map(|most| most.saturating_sub(tried));
    let gets_on = done.searched > 0 && before.is_none_or(|before| done.left < before);
    // A search that has failed fails again.
    let has_more = done.left > done.failed && most != Some(0);
    let goes_on = done.stopped_by == BookStop::Complete && gets_on && has_more;
    goes_on.then_some(BookTask::Analyze { stale, most })
}

/// Whether a job has done what was wanted of it.
///
/// # Errors
/// It was cancelled, a search failed, or positions are left.
pub(crate) fn verdict(done: &BookDone, wanted: Wanted) -> Result<(), Failure> {
    let missing = if wanted == Wanted::Everything { done.left } else { 0 };
    let fault = match (done.stopped_by, done.failed, missing) {
        (BookStop::Cancel, ..) => format!("cancelled: {}", left(done.left)),
        (_, 0, 0) => return Ok(()),
        (_, 0, missing) => left(missing),
        (_, failed, _) => format!("the search of {} failed, {}", positions(failed), left(done.left)),
    };
    Err(Failure::Failed(anyhow::anyhow!(fault)))
}

/// `1 position`, `1,234 positions`.
pub(super) fn positions(number: u64) -> String {
    units::counted(number, "position")
}

/// `1 position is left`, `1,234 positions are left`.
fn left(number: u64) -> String {
    format!("{} {} left", positions(number), if number == 1 { "is" } else { "are" })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: BookTask = BookTask::Analyze { stale: false, most: None };

    fn ended(searched: u64, failed: u64, left: u64) -> BookDone {
        BookDone {
            positions: 1_000,
            searched,
            added: 0,
            failed,
            left,
            nodes: 1,
            elapsed: Duration::ZERO,
            stopped_by: BookStop::Complete,
        }
    }

    /// Has a book analysed by jobs that end so; returns what each was asked for, and what is left at the end.
    fn asked(task: BookTask, ends: &[BookDone]) -> (Vec<Option<u32>>, u64) {
        let asked = std::cell::RefCell::new(Vec::new());
        let ask = async |task: BookTask| {
            let BookTask::Analyze { most, .. } = task else { return Ok(None) };
            asked.borrow_mut().push(most);
            Ok(ends.get(asked.borrow().len() - 1).copied())
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let done = runtime.block_on(all("main", task, ask)).unwrap().expect("no job too many");
        (asked.into_inner(), done.left)
    }

    #[test]
    fn jobs_are_asked_for_until_nothing_is_left() {
        let ends = [ended(100, 0, 150), ended(100, 0, 50), ended(50, 0, 0)];
        assert_eq!(asked(ALL, &ends), (vec![None; 3], 0));
        let most = BookTask::Analyze { stale: false, most: Some(250) };
        let ends = [ended(100, 0, 900), ended(100, 0, 800), ended(50, 0, 750)];
        assert_eq!(asked(most, &ends), (vec![Some(250), Some(150), Some(50)], 750));
    }

    #[test]
    fn jobs_that_do_not_get_on_are_not_asked_for_again() {
        assert_eq!(asked(ALL, &[ended(100, 0, 50), ended(10, 0, 50)]), (vec![None; 2], 50));
        assert_eq!(asked(ALL, &[ended(0, 0, 50)]), (vec![None], 50));
        // All that is left has failed.
        assert_eq!(asked(ALL, &[ended(100, 2, 2)]), (vec![None], 2));
        let cancelled = BookDone { stopped_by: BookStop::Cancel, ..ended(100, 0, 50) };
        assert_eq!(asked(ALL, &[cancelled]), (vec![None], 50));
    }

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
        let one = BookDone { left: 1, ..done };
        assert!(said(&one, Wanted::Everything).unwrap_err().contains("1 position is left"));
        let failed = BookDone { failed: 1, left: 1, ..done };
        assert!(said(&failed, Wanted::Some).unwrap_err().contains("1 position failed"));
        let cancelled = BookDone { stopped_by: BookStop::Cancel, ..done };
        assert!(said(&cancelled, Wanted::Some).unwrap_err().contains("cancelled: 0 positions"));
    }
}
