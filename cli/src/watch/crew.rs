//! The workers: what each of them does, how fast, whether it lives; and who was lost.

use std::time::Duration;

use corridor_shared::job::{HeldUnit, WorkerLoss, WorkerSummary};

use super::paint::{Paint, cut, fitted, right};
use crate::analyze::live::width;
use crate::analyze::state::State;
use crate::units::{counted, short, span};

/// Whoever has said nothing for so long is worth a word.
const SILENT: Duration = Duration::from_secs(3);
/// Losses that are older are history.
const RECENT: Duration = Duration::from_secs(600);
/// Losses that are shown.
const MAX_LOSSES: usize = 3;
/// The most columns of a name.
const MAX_NAME: usize = 20;

/// As many workers as there are lines for, those that do not fit counted; the latest losses below them.
pub(super) fn lines(state: &State, lines: usize, columns: usize, paint: Paint) -> Vec<String> {
    let Some(beat) = state.beat() else { return Vec::new() };
    let age = beat.at.elapsed();
    let mut losses = losses(&beat.losses, age, paint);
    losses.truncate(lines.saturating_sub(beat.crew.len().min(1)));
    let room = lines.saturating_sub(losses.len());
    let shown = match beat.crew.len() {
        all if all <= room => all,
        _ => room.saturating_sub(1),
    };
    let mut workers: Vec<&WorkerSummary> = beat.crew.iter().collect();
    if shown < workers.len() {
        // Whoever is silent is among those that are seen.
        workers.sort_by_key(|worker| worker.silent + age <= SILENT);
        workers.truncate(shown);
    }
    let name = workers.iter().map(|worker| width(&worker.name)).max().unwrap_or(0);
    let name = name.min(MAX_NAME).min(columns / 3);
    let mut text: Vec<String> =
        workers.iter().map(|worker| line(state, worker, age, (name, columns), paint)).collect();
    if shown < beat.crew.len() && room > 0 {
        let others = u64::try_from(beat.crew.len() - shown).unwrap_or(u64::MAX);
        let what = if shown > 0 { "more worker" } else { "worker" };
        text.push(paint.dim(&counted(others, what)));
    }
    text.extend(losses);
    text.iter().map(|line| cut(line, columns)).collect()
}

fn line(
    state: &State,
    worker: &WorkerSummary,
    age: Duration,
    (name, columns): (usize, usize),
    paint: Paint,
) -> String {
    let silent = worker.silent + age;
    let (mark, alive) = if silent > SILENT {
        (paint.bad("\u{25cb}"), paint.bad(&format!("  silent for {}", span(silent))))
    } else if worker.draining {
        (paint.warning("\u{25cf}"), paint.warning("  draining"))
    } else {
        (paint.good("\u{25cf}"), String::new())
    };
    let rate = if worker.nodes_per_second > 0 {
        format!("{}/s", short(worker.nodes_per_second))
    } else {
        String::new()
    };
    let does = does(state, worker, columns);
    format!("{mark} {} {}{alive}  {does}", fitted(&worker.name, name), right(&rate, 7))
}

/// What it searches, of this job first.
fn does(state: &State, worker: &WorkerSummary, columns: usize) -> String {
    let ours = worker.holds.iter().find(|unit| state.is_ours(unit));
    let waiting = usize::try_from(worker.units).unwrap_or(0).saturating_sub(1);
    let rest = if waiting > 0 { format!(", {waiting} waiting") } else { String::new() };
    match (ours, worker.holds.first()) {
        (Some(unit), _) => format!("{}{rest}", named(unit, columns)),
        (None, Some(other)) => format!("works on job {}", other.job),
        (None, None) if worker.units > 0 => counted(worker.units.into(), "unit"),
        (None, None) => "idle".to_owned(),
    }
}

/// `e3h e8 .. depth 12, 1.3M, 3.2 s`.
fn named(unit: &HeldUnit, columns: usize) -> String {
    const WIDE: usize = 56;
    let plies = if columns < WIDE { 2 } else { 4 };
    let mut moves: Vec<String> = unit.moves.iter().take(plies).map(ToString::to_string).collect();
    if unit.moves.len() > plies {
        moves.push("..".to_owned());
    }
    let line = if moves.is_empty() { "the position".to_owned() } else { moves.join(" ") };
    let nodes = if unit.nodes > 0 { format!(", {}", short(unit.nodes)) } else { String::new() };
    let running = if unit.running >= Duration::from_secs(1) {
        format!(", {}", span(unit.running))
    } else {
        String::new()
    };
    format!("{line} depth {}{nodes}{running}", unit.depth)
}

fn losses(losses: &[WorkerLoss], age: Duration, paint: Paint) -> Vec<String> {
    let recent = losses.iter().filter(|loss| loss.ago + age < RECENT).take(MAX_LOSSES);
    let said = |loss: &WorkerLoss| {
        let units = if loss.units > 0 {
            format!(", {} to others", counted(loss.units.into(), "unit"))
        } else {
            String::new()
        };
        let name = cut(&loss.name, MAX_NAME);
        let text = format!("left {} ago: {}{units}", span(loss.ago + age), loss.reason);
        format!("{} {name} {}", paint.warning("\u{2717}"), paint.warning(&text))
    };
    recent.map(said).collect()
}
