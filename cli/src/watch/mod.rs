//! `corridor watch`: a job of a cluster, as the live board shows it, in text.
//!
//! On a terminal it is a page of its own, drawn over and over: `layout` says what stands where, `panel` what is said beside the board,
//! with `candidates`, `crew` and `bars` for its parts. These are functions of what is known and of the size. Elsewhere it is a `log`.

mod bars;
mod candidates;
mod crew;
mod layout;
mod log;
mod paint;
mod panel;
mod screen;
mod suspend;
#[cfg(test)]
mod tests;

use clap::Args;
use corridor_shared::job::JobId;
use corridor_shared::job::RootPrune;

use crate::analyze::pictures::{PictureArgs, Pictures};
use crate::book;
use crate::client::ClusterArgs;
use crate::failure::Failure;
use crate::follow::{Ended, Interrupt, View, show};
use crate::signals::Interrupts;
use crate::{logging, runtime, units};

pub(crate) use log::Log;
pub(crate) use screen::WatchScreen;
use suspend::Suspension;

/// What `watch` is told.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The job's number
    #[arg(value_name = "JOB", value_parser = units::whole(1..=u64::MAX))]
    job: u64,

    /// With --json: only events after this number; 0 is all of them
    #[arg(long, value_name = "SEQ", default_value_t = 0, value_parser = units::whole(0..=u64::MAX))]
    after: u64,

    #[command(flatten)]
    cluster: ClusterArgs,
}

/// Shows the job until its last event. An interrupt ends the show and leaves the job alone.
pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<(), Failure> {
    let interrupts = Interrupts::listen()?;
    logging::start().map_err(|error| Failure::bad_input(&error))?;
    let pictures = Pictures::new(&PictureArgs::default(), RootPrune::Cat, None)?;
    let (client, job) = (arguments.cluster.client(), JobId(arguments.job));
    runtime::run(async {
        let mut waiting = interrupts.clone();
        let open = async {
            let stream = client.watch(job, arguments.after).await?;
            // A picture needs the first event, whatever was seen before; the cursor has been checked all the same.
            if json || arguments.after == 0 { Ok(stream) } else { client.watch(job, 0).await }
        };
        let stream = tokio::select! {
            opened = open => opened?,
            () = waiting.wait() => return Err(Failure::interrupted(&"no coordinator had answered yet")),
        };
        let view = match json {
            true => View::Json,
            false if WatchScreen::is_possible() => View::Page,
            false => View::Log,
        };
        let _suspension = (view == View::Page).then(Suspension::listen);
        match show(&client, stream, interrupts, Interrupt::Leaves, pictures, view).await? {
            Ended::Position => Ok(()),
            Ended::Book(done) => book::verdict(&done, book::Wanted::Some),
        }
    })
}
