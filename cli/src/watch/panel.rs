//! What is said beside the board: the answer so far, how far it is, the candidates, the workers.

use corridor_shared::board::Move;
use corridor_shared::job::{IterationReport, JobLimits};
use corridor_shared::score::WhiteScore;

use super::paint::{Paint, cut};
use super::{bars, candidates, crew};
use crate::analyze::live::{bar, flow, width};
use crate::analyze::state::State;
use crate::render::in_plies;
use crate::units::{counted, grouped, short, span};

/// Lines of the table that are worth it: its heading and two moves.
const LEAST_TABLE: usize = 3;
/// The most lines for the workers as long as there are more candidates than lines.
const MAX_CREW: usize = 8;

/// The state of the job on one line: what is wrong if anything is, else that it runs, for how long and by how many.
pub(super) fn title(state: &State, columns: usize, paint: Paint) -> String {
    let job = state.asked.as_ref().map_or_else(String::new, |asked| format!("job {}", asked.job));
    let text = if let Some((since, reason)) = state.lost() {
        let since = span(since);
        paint.bad(&format!("{job}  not connected for {since}, trying again: {reason}"))
    } else if let Some(trouble) = state.trouble() {
        paint.warning(&format!("{job}  {trouble}"))
    } else {
        let workers = state.beat().map(|beat| {
            let rate = beat.nodes_per_second;
            let rate = if rate > 0 { format!(", {}/s", short(rate)) } else { String::new() };
            format!("  cluster: {}{rate}", counted(beat.workers, "worker"))
        });
        let job = paint.bold(&job);
        format!("{job}  {}  {}{}", paint.good("running"), span(state.elapsed()), workers.unwrap_or_default())
    };
    cut(&text, columns)
}

/// All of it on so many lines of so many columns, what matters least left out.
pub(super) fn lines(state: &State, rows: usize, columns: usize, paint: Paint) -> Vec<String> {
    let mut left = rows;
    let mut take = |lines: Vec<String>| {
        let fits = lines.len() <= left;
        left -= if fits { lines.len() } else { 0 };
        if fits { lines } else { Vec::new() }
    };
    // In the order in which they matter, which is not that in which they stand.
    let answer = take(vec![answer(state, columns, paint)]);
    let progress = take(vec![progress(state, columns, paint)]);
    let evaluation = take(vec![evaluation(state, columns, paint)]);
    let searched = state.best_first().len();
    let least = take(vec![String::new(); if searched > 0 { LEAST_TABLE.min(searched + 1) } else { 0 }]).len();
    let figures = take(flow(&figures(state), "  ", columns));
    let least_crew = take(vec![String::new(); usize::from(state.beat().is_some())]).len();
    let play = take(play(state, columns));
    let history = take(history(state, columns, paint));
    let pruned = take(pruned(state, columns, paint));
    let (table, crew) = shares(state, left, (least, least_crew));
    let table = candidates::table(state, table, columns, paint);
    let crew = crew::lines(state, crew, columns, paint);
    let blocks = [[answer, evaluation, progress, figures, play].concat(), history, table, pruned, crew];
    let lines = spaced(blocks.into_iter().filter(|block| !block.is_empty()).collect(), rows);
    lines.iter().map(|line| cut(line, columns)).collect()
}

/// Lines for the candidates and for the workers, of what is left beyond the least of both.
fn shares(state: &State, left: usize, (least, least_crew): (usize, usize)) -> (usize, usize) {
    let table = state.best_first().len() + 1;
    let crew = state.beat().map_or(0, |beat| beat.crew.len() + beat.losses.len());
    let for_crew = crew.min(MAX_CREW).saturating_sub(least_crew).min(left / 3);
    let for_table = table.saturating_sub(least).min(left - for_crew);
    let for_crew = crew.saturating_sub(least_crew).min(left - for_table);
    (least + for_table, least_crew + for_crew)
}

/// The blocks below each other, with an empty line between two as long as there is room.
fn spaced(blocks: Vec<Vec<String>>, rows: usize) -> Vec<String> {
    let mut spare = rows.saturating_sub(blocks.iter().map(Vec::len).sum());
    let mut lines: Vec<String> = Vec::new();
    for block in blocks {
        if !lines.is_empty() && spare > 0 {
            lines.push(String::new());
            spare -= 1;
        }
        lines.extend(block);
    }
    lines
}

/// The best move of the last completed depth.
fn answer(state: &State, columns: usize, paint: Paint) -> String {
    let Some(IterationReport { depth, best_move, score_white, .. }) = state.last_iteration() else {
        return "no depth is complete yet".to_owned();
    };
    let best = paint.bold(&format!("{best_move} is best: {}", in_plies(*score_white)));
    let pieces = [best, format!("depth {depth}"), ahead(*score_white).to_owned()];
    flow(&pieces, ", ", columns).swap_remove(0)
}

/// Whom a score favours, where it does not say so itself.
const fn ahead(score: WhiteScore) -> &'static str {
    match score {
        WhiteScore::Cm(1..) => "White is ahead",
        WhiteScore::Cm(0) => "nobody is ahead",
        WhiteScore::Cm(_) => "Black is ahead",
        WhiteScore::WhiteWinsIn(_) | WhiteScore::BlackWinsIn(_) => "",
    }
}

/// The bar between the two players.
fn evaluation(state: &State, columns: usize, paint: Paint) -> String {
    const LONGEST: usize = 60;
    const NAMES: usize = "White  Black".len();
    let score = state.last_iteration().map(|report| report.score_white);
    let columns = columns.min(LONGEST + NAMES);
    if columns < 2 * NAMES {
        return bars::evaluation(score, columns, paint);
    }
    format!("White {} Black", bars::evaluation(score, columns - NAMES, paint))
}

/// How many moves of the depth are done.
fn progress(state: &State, columns: usize, paint: Paint) -> String {
    let (settled, all) = (state.settled.min(state.moves()), state.moves());
    let depth = format!("depth {}", state.depth.max(1));
    let count = format!("{settled}/{all} moves");
    let room = columns.saturating_sub(width(&depth) + width(&count) + 2);
    let bar = bar(settled as u64, all as u64, room.saturating_sub(1));
    let bar = if bar.is_empty() { bar } else { format!("{} ", paint.good(&bar)) };
    format!("{depth} {bar}{count}")
}

/// How much was searched, and when it ends.
fn figures(state: &State) -> Vec<String> {
    let searched =
        Some(state.nodes()).filter(|&nodes| nodes > 0).map(|nodes| format!("{} nodes", grouped(nodes)));
    let JobLimits { depth, time, nodes } = state.limits();
    let depth = depth.map(|depth| format!("to depth {depth}"));
    let time = time.map(|time| {
        let left = time.saturating_sub(state.elapsed());
        format!("{} left of {}", span(left), span(time))
    });
    let nodes = nodes.map(|nodes| format!("at most {} nodes", short(nodes)));
    [searched, depth, time, nodes].into_iter().flatten().collect()
}

/// The expected play.
fn play(state: &State, columns: usize) -> Vec<String> {
    let Some(report) = state.last_iteration().filter(|report| !report.pv.is_empty()) else {
        return Vec::new();
    };
    let moves: Vec<String> =
        std::iter::once("line".to_owned()).chain(report.pv.iter().map(ToString::to_string)).collect();
    flow(&moves, " ", columns).into_iter().take(1).collect()
}

/// Score and best move over depth, as soon as there is something to compare.
fn history(state: &State, columns: usize, paint: Paint) -> Vec<String> {
    let reports: Vec<&IterationReport> = state.iterations.values().collect();
    let [.., _, _] = reports.as_slice() else { return Vec::new() };
    let scores: Vec<WhiteScore> = reports.iter().map(|report| report.score_white).collect();
    let label = "score ";
    let line = bars::sparkline(&scores, (columns / 2).saturating_sub(label.len()));
    let room = columns.saturating_sub(label.len() + width(&line) + 1);
    let last = last_that_fit(&scores.iter().map(|&score| candidates::brief(score)).collect::<Vec<_>>(), room);
    let best = last_that_fit(&runs(&reports), columns.saturating_sub(label.len()));
    vec![format!("{}{line} {last}", paint.dim(label)), format!("{}{best}", paint.dim("best  "))]
}

/// The best moves with the depths at which they were: `e2 1-5`, `e3h 6-9`.
fn runs(reports: &[&IterationReport]) -> Vec<String> {
    let mut runs: Vec<(Move, u8, u8)> = Vec::new();
    for report in reports {
        match runs.last_mut() {
            Some((mv, _, last)) if *mv == report.best_move => *last = report.depth,
            _ => runs.push((report.best_move, report.depth, report.depth)),
        }
    }
    let named = |(mv, first, last)| {
        if first == last { format!("{mv} {first}") } else { format!("{mv} {first}-{last}") }
    };
    runs.into_iter().map(named).collect()
}

/// The last of some pieces, with dots for those that do not fit.
fn last_that_fit(pieces: &[String], columns: usize) -> String {
    let fits = |from: usize| {
        let dots = if from > 0 { ".. " } else { "" };
        let text = format!("{dots}{}", pieces[from..].join("  "));
        (width(&text) <= columns).then_some(text)
    };
    (0..pieces.len()).find_map(fits).unwrap_or_default()
}

/// What is not searched, and what came of looking at it all the same.
fn pruned(state: &State, columns: usize, paint: Paint) -> Vec<String> {
    let Some(asked) = &state.asked else { return Vec::new() };
    let mut pieces = vec![format!("{} searched, {} pruned", asked.kept, asked.pruned)];
    let (checked, misses) = state.audited();
    if checked > 0 && misses.is_empty() {
        pieces.push(format!("{checked} of them checked, none is better"));
    }
    let mut lines: Vec<String> = flow(&pieces, "; ", columns).iter().map(|line| paint.dim(line)).collect();
    if !misses.is_empty() {
        let named: Vec<String> = misses
            .iter()
            .map(|miss| format!("{} {}", miss.mv, candidates::brief(miss.score_white)))
            .collect();
        lines.push(paint.bad(&format!("{checked} of them checked, better: {}", named.join(", "))));
    }
    lines
}
