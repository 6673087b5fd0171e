//! What an analysis leaves as files: the board as SVG, the whole of it as a page.

use std::path::PathBuf;

use clap::Args;
use corridor_coordinator::store::Place;
use corridor_shared::cat::cat_snapshot;
use corridor_shared::job::{Accepted, DoneReport, JobEvent, RootPrune};

use crate::failure::Failure;
use crate::render::html::AnalysisReport;
use crate::{out, overwrite};

/// Where to draw.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct PictureArgs {
    /// Draw the board, its heat and the best move into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Write the analysis as a page of its own into this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Collects from a job's events what the files need.
pub(crate) struct Pictures {
    files: PictureArgs,
    prune: RootPrune,
    accepted: Option<Accepted>,
    workers: u32,
}

impl Pictures {
    /// Makes sure that the files can be written, and are not where the work is kept, before hours of it go into what they are to
    /// show.
    pub(crate) fn new(files: &PictureArgs, prune: RootPrune, store: Option<&Place>) -> Result<Self, Failure> {
        if let (Some(svg), Some(html)) = (&files.svg, &files.html)
            && out::is_same_file(svg, html)
        {
            return Err(Failure::bad_input(&format!(
                "--svg and --html are the same file, {}",
                svg.display()
            )));
        }
        for (flag, file) in [("--svg", &files.svg), ("--html", &files.html)] {
            if let Some(file) = file {
                overwrite::refuse_store(flag, file, store)?;
                out::check_writable(flag, file)?;
            }
        }
        Ok(Self { files: files.clone(), prune, accepted: None, workers: 0 })
    }

    /// Takes an event in; with the last one the files are written.
    pub(crate) fn see(&mut self, event: &JobEvent) -> Result<(), Failure> {
        match event {
            JobEvent::Accepted(accepted) => self.accepted = Some(accepted.clone()),
            JobEvent::Iteration(iteration) => self.workers = self.workers.max(iteration.workers),
            JobEvent::Done(done) => return self.write(done),
            _ => {}
        }
        Ok(())
    }

    fn write(&self, done: &DoneReport) -> Result<(), Failure> {
        let Some(accepted) = &self.accepted else { return Ok(()) };
        if self.files.svg.is_none() && self.files.html.is_none() {
            return Ok(());
        }
        let report = AnalysisReport {
            position: accepted.position,
            snapshot: cat_snapshot(&accepted.position),
            all_searched: self.prune == RootPrune::None,
            lines: done.lines.clone(),
            pruned: accepted.pruned.clone(),
            depth: done.depth,
            nodes: done.nodes,
            elapsed: done.elapsed,
            workers: self.workers,
            stopped_by: done.stopped_by,
        };
        if let Some(file) = &self.files.svg {
            out::file(file, &report.svg())?;
        }
        if let Some(file) = &self.files.html {
            out::file(file, &report.html())?;
        }
        Ok(())
    }
}
