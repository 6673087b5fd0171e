//! Who worked on what, when: as JSON lines, and as a picture with a lane for each worker.

use std::fmt::Write as _;
use std::time::Duration;

use serde::Serialize;

use super::virtual_cluster::{Ending, Outcome, Span};

const WIDTH: f64 = 1_200.0;
const MARGIN: f64 = 60.0;
const LANE: f64 = 16.0;
const TOP: f64 = 40.0;

#[derive(Serialize)]
struct Line<'a> {
    position: &'a str,
    workers: usize,
    worker: usize,
    from_s: f64,
    to_s: f64,
    path: &'a str,
    depth: u8,
    speculative: bool,
    end: Ending,
}

/// A run's units, a JSON object a line.
///
/// # Errors
/// The encoder's.
pub(super) fn trace(position: &str, workers: usize, outcome: &Outcome) -> serde_json::Result<String> {
    let mut text = String::new();
    for span in &outcome.spans {
        let line = Line {
            position,
            workers,
            worker: span.worker + 1,
            from_s: span.from.as_secs_f64(),
            to_s: span.to.as_secs_f64(),
            path: &span.path,
            depth: span.depth,
            speculative: span.speculative,
            end: span.end,
        };
        text.push_str(&serde_json::to_string(&line)?);
        text.push('\n');
    }
    Ok(text)
}

const fn colour(span: &Span) -> &'static str {
    match (span.end, span.speculative) {
        (Ending::Done, false) => "#2a7de1",
        (Ending::Done, true) => "#7fb2ee",
        (Ending::Shed, _) => "#e0a11b",
        (Ending::Cancelled, _) => "#c9483b",
    }
}

/// A picture of one run.
pub(super) fn picture(position: &str, workers: usize, outcome: &Outcome) -> String {
    let height = LANE.mul_add(u32::try_from(workers).map_or(1.0, f64::from), TOP + 40.0);
    let total = outcome.time.as_secs_f64().max(1e-9);
    let x = |time: Duration| (WIDTH - 2.0 * MARGIN).mul_add(time.as_secs_f64() / total, MARGIN);
    let y = |worker: usize| LANE.mul_add(u32::try_from(worker).map_or(0.0, f64::from), TOP);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"{MARGIN}\" y=\"16\">{}: \
         {workers} workers, {total:.3} s to depth {}</text>\n<text x=\"{MARGIN}\" y=\"32\" fill=\"#555\">blue needed, light \
         blue guessed, yellow shed, red cancelled</text>\n",
        escaped(position),
        outcome.depth
    );
    svg.push_str(&axis(total, y(workers)));
    for worker in 0..workers {
        // Writing to a string does not fail.
        let _ = writeln!(svg, "<text x=\"8\" y=\"{:.1}\">{}</text>", y(worker) + LANE - 4.0, worker + 1);
    }
    for span in &outcome.spans {
        let (from, to) = (x(span.from), x(span.to));
        let _ = writeln!(
            svg,
            "<rect x=\"{from:.2}\" y=\"{:.1}\" width=\"{:.2}\" height=\"{:.1}\" fill=\"{}\"><title>{} to depth \
             {}</title></rect>",
            y(span.worker),
            (to - from).max(0.2),
            LANE - 2.0,
            colour(span),
            escaped(&span.path),
            span.depth
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// The time below the lanes, with a line through them at every round number of seconds.
fn axis(total: f64, bottom: f64) -> String {
    let rough = total / 10.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0].iter().map(|unit| unit * power).find(|&step| step >= rough);
    let step = step.unwrap_or(10.0 * power);
    let decimals = if step >= 1.0 { 0 } else { 3 };
    let mut svg = String::new();
    let mut time = 0.0;
    while time <= total {
        let x = (WIDTH - 2.0 * MARGIN).mul_add(time / total, MARGIN);
        let _ = writeln!(
            svg,
            "<path d=\"M{x:.1} {TOP}V{bottom:.1}\" stroke=\"#ddd\"/><text x=\"{x:.1}\" y=\"{:.1}\" \
             text-anchor=\"middle\" fill=\"#555\">{time:.decimals$} s</text>",
            bottom + 16.0
        );
        time += step;
    }
    svg
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
