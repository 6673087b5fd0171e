//! Following a job from its first event to its last: what `analyze`, `watch` and the jobs of `book` have in common.

use std::time::Duration;

use corridor_shared::job::{BookDone, EventRecord, JobEvent, JobId};
use tokio::time::{Instant, MissedTickBehavior};

use crate::analyze::pictures::Pictures;
use crate::analyze::screen::Screen;
use crate::book::BookScreen;
use crate::client::{Client, Seen, Stream, accepted_job, json_line};
use crate::failure::Failure;
use crate::listing::printable;
use crate::out;
use crate::pulse::{Beat, Pulse};
use crate::signals::Interrupts;
use crate::watch::{Log, WatchScreen};

/// How often the screen is looked after, and so the most often that it changes.
const REDRAW: Duration = Duration::from_millis(100);

/// Whoever has asked for an end waits so long for it.
const END_TIME: Duration = Duration::from_secs(10);

/// What the first interrupt does to the job that is shown; a second one ends the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// Cancels it; its last event then still comes.
    Cancels,
    /// Leaves it alone and ends the show.
    Leaves,
}

/// How a job is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// For programs: the events, a line each.
    Json,
    /// What is new at the foot of the terminal, if there is one, and the result.
    Foot,
    /// A page that covers the terminal, and the result; a book's job as at the foot.
    Page,
    /// A line for everything that happens, and the result.
    Log,
}

impl View {
    /// For programs or for a person who has just asked for something.
    pub(crate) const fn of(json: bool) -> Self {
        if json { Self::Json } else { Self::Foot }
    }
}

/// How a job has ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The analysis of a position.
    Position,
    /// Work on a book.
    Book(BookDone),
}

/// Shows a job's events until the last one. A job that failed is a failure.
pub(crate) async fn show(
    client: &Client,
    mut stream: Stream,
    mut interrupts: Interrupts,
    interrupt: Interrupt,
    mut pictures: Pictures,
    view: View,
) -> Result<Ended, Failure> {
    let mut display = Display::new(view);
    let mut redraw = tokio::time::interval(REDRAW);
    redraw.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut job = None;
    let mut pulse: Option<Pulse> = None;
    let mut interrupted = false;
    // When nobody waits any more for the end that was asked for.
    let mut ends = None;
    loop {
        let seen = tokio::select! {
            () = interrupts.wait(), if !interrupted => {
                interrupted = true;
                ends = Some(Instant::now() + END_TIME);
                if interrupt == Interrupt::Leaves {
                    display.leave()?;
                    return Err(goes_on(job));
                }
                if let Some(job) = job {
                    client.try_cancel(job).await;
                }
                continue;
            }
            () = until(ends) => {
                display.leave()?;
                return Err(unconfirmed(job));
            }
            _ = redraw.tick() => {
                if let Some(beat) = pulse.as_mut().and_then(Pulse::newest) {
                    display.feel(beat);
                }
                display.redraw();
                continue;
            }
            seen = stream.next() => seen,
        };
        let record = match seen {
            Ok(Seen::Event(record)) => *record,
            Ok(Seen::Lost(reason)) => {
                display.lose(&reason);
                continue;
            }
            Err(failure) => {
                display.fail()?;
                return Err(failure);
            }
        };
        if let Some(accepted) = accepted_job(&record.event) {
            job = Some(accepted);
            if interrupted {
                client.try_cancel(accepted).await;
            }
        }
        display.show(&record)?;
        // Only a person looks at it between two events.
        pulse = pulse.or_else(|| job.filter(|_| display.is_live()).map(|job| Pulse::of(client, job)));
        pictures.see(&record.event)?;
        match record.event {
            JobEvent::Done(_) => return Ok(Ended::Position),
            JobEvent::BookDone(done) => return Ok(Ended::Book(done)),
            JobEvent::Error(failure) => {
                return Err(Failure::Failed(anyhow::anyhow!("{}: {}", failure.code, failure.message)));
            }
            _ => {}
        }
    }
}

async fn until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// Nothing ends that cannot be kept: on a full disk a job is held, and its end too.
fn unconfirmed(job: Option<JobId>) -> Failure {
    let which = job.map_or_else(|| "the job".to_owned(), |job| format!("job {job}"));
    let text =
        format!("{which} has not confirmed its end within {} s; what was told is kept", END_TIME.as_secs());
    Failure::interrupted(&text)
}

fn goes_on(job: Option<JobId>) -> Failure {
    let which = job.map_or_else(|| "the job".to_owned(), |job| format!("job {job}"));
    Failure::interrupted(&format!("{which} goes on"))
}

/// Waits until the job is accepted, and so kept, and says what it is called.
pub(crate) async fn hand_in(
    mut stream: Stream,
    mut interrupts: Interrupts,
    urls: &[String],
    json: bool,
) -> Result<(), Failure> {
    loop {
        let seen = tokio::select! {
            () = interrupts.wait() => {
                return Err(Failure::interrupted(&"the job may have been accepted: corridor jobs lists it"));
            }
            seen = stream.next() => seen?,
        };
        match seen {
            Seen::Lost(reason) => lost(&reason),
            Seen::Event(record) => {
                let Some(job) = accepted_job(&record.event) else { continue };
                if json {
                    return out::line(&json_line(&record)?);
                }
                out::line(&format!("job {job}: accepted"))?;
                return out::line(&format!("corridor watch {job} --coordinator {}", urls.join(",")));
            }
        }
    }
}

/// Where a job is shown.
enum Display {
    /// For programs: the events as they come.
    Json,
    /// A person, who watches a position.
    Position(Box<Screen>),
    /// A person, who watches a position and nothing else.
    Page(Box<WatchScreen>),
    /// A person, who watches a book.
    Book(Box<BookScreen>),
    /// Whoever reads it later.
    Log(Box<Log>),
}

impl Display {
    fn new(view: View) -> Self {
        match view {
            View::Json => Self::Json,
            View::Foot => Self::Position(Box::new(Screen::new())),
            View::Page => Self::Page(Box::new(WatchScreen::new())),
            View::Log => Self::Log(Box::new(Log::new())),
        }
    }

    fn show(&mut self, record: &EventRecord) -> Result<(), Failure> {
        if let (Self::Position(_) | Self::Page(_), JobEvent::BookAccepted(accepted)) = (&*self, &record.event)
        {
            *self = Self::Book(Box::new(BookScreen::new(accepted)));
        }
        match self {
            Self::Json => {
                if let JobEvent::PositionFailed(failure) = &record.event {
                    out::complain(&printable(&format!("{}: {}", failure.position, failure.message)));
                }
                out::line(&json_line(record)?)
            }
            Self::Position(screen) => screen.show(&record.event),
            Self::Page(screen) => screen.show(&record.event),
            Self::Book(screen) => screen.show(&record.event),
            Self::Log(log) => log.show(&record.event),
        }
    }

    fn redraw(&mut self) {
        match self {
            Self::Json | Self::Log(_) => {}
            Self::Position(screen) => screen.redraw(),
            Self::Page(screen) => screen.redraw(),
            Self::Book(screen) => screen.redraw(),
        }
    }

    fn is_live(&self) -> bool {
        match self {
            Self::Json | Self::Log(_) => false,
            Self::Position(screen) => screen.is_live(),
            Self::Page(_) => true,
            Self::Book(screen) => screen.is_live(),
        }
    }

    fn feel(&mut self, beat: Beat) {
        match self {
            Self::Json | Self::Log(_) => {}
            Self::Position(screen) => screen.feel(beat),
            Self::Page(screen) => screen.feel(beat),
            Self::Book(screen) => screen.feel(beat),
        }
    }

    /// The line broke: no failure, as long as it can be taken up again.
    fn lose(&mut self, reason: &str) {
        match self {
            Self::Page(screen) => screen.lose(reason),
            _ => lost(reason),
        }
    }

    /// Shows what is known of a job that goes on without this command.
    fn leave(&mut self) -> Result<(), Failure> {
        match self {
            Self::Json | Self::Log(_) => Ok(()),
            Self::Position(screen) => screen.leave(),
            Self::Page(screen) => screen.leave(),
            Self::Book(screen) => screen.leave(),
        }
    }

    /// Leaves what a page has shown: with the page it would be gone.
    fn fail(&mut self) -> Result<(), Failure> {
        match self {
            Self::Page(screen) => screen.leave(),
            _ => Ok(()),
        }
    }
}

/// Says that the line broke: no failure, as long as it can be taken up again.
fn lost(reason: &str) {
    out::complain(&format!("{}; trying again", printable(reason)));
}
