//! Numbers as pictures: who is ahead, how that has changed, how hot a move is.

use corridor_shared::cat::CAT_DISPLAY_CEILING_CM;
use corridor_shared::score::WhiteScore;

use super::paint::Paint;
use crate::render::board::{INK_ON_TINT, coloured};
use crate::render::ramp::{self, Rgb};

/// What two players' parts of a bar are painted with.
const WHITE: Rgb = Rgb(236, 233, 226);
const BLACK: Rgb = Rgb(52, 48, 46);

/// White's share of a bar, 0..=1, as on the live board: two squares ahead fill about 82 %, a win all of it.
pub(super) fn white_share(score: WhiteScore) -> f64 {
    match score {
        WhiteScore::WhiteWinsIn(_) => 1.0,
        WhiteScore::BlackWinsIn(_) => 0.0,
        WhiteScore::Cm(cm) => 0.5 + 0.5 * (f64::from(cm) / 260.0).tanh(),
    }
}

/// A bar of so many columns, White's part at its left.
pub(super) fn evaluation(score: Option<WhiteScore>, columns: usize, paint: Paint) -> String {
    let white = portion(score.map_or(0.5, white_share), columns);
    let black = columns - white;
    if paint.colours {
        paint.on(WHITE, &" ".repeat(white)) + &paint.on(BLACK, &" ".repeat(black))
    } else {
        "\u{2588}".repeat(white) + &"\u{2591}".repeat(black)
    }
}

/// One column a score, the higher the better for White; of too many the last ones. From the lowest of them to the highest, and never
/// less than a square, or noise would look like mountains.
pub(super) fn sparkline(scores: &[WhiteScore], columns: usize) -> String {
    const HEIGHTS: [char; 8] =
        ['\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}'];
    const LEAST_RANGE: f64 = 100.0;
    let last = &scores[scores.len().saturating_sub(columns)..];
    let values: Vec<f64> = last.iter().map(|&score| squares(score)).collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let range = (high - low).max(LEAST_RANGE);
    let bottom = f64::midpoint(low, high) - range / 2.0;
    values.iter().map(|value| HEIGHTS[portion((value - bottom) / range, HEIGHTS.len() - 1)]).collect()
}

/// A score in cm, a win as ten squares.
fn squares(score: WhiteScore) -> f64 {
    const WIN: f64 = 1_000.0;
    match score {
        WhiteScore::Cm(cm) => f64::from(cm).clamp(-WIN, WIN),
        WhiteScore::WhiteWinsIn(_) => WIN,
        WhiteScore::BlackWinsIn(_) => -WIN,
    }
}

/// A bar of so many columns that is full at the hottest there is.
pub(super) fn heat(heat_cm: u16, columns: usize, paint: Paint) -> String {
    let share = f64::from(heat_cm) / f64::from(CAT_DISPLAY_CEILING_CM);
    let full = portion(share, columns);
    let bar = match ramp::tint(heat_cm).filter(|_| paint.colours) {
        Some(tint) => paint.on(tint, &" ".repeat(full)),
        None => "\u{2588}".repeat(full),
    };
    bar + &" ".repeat(columns - full)
}

/// The same in four columns: the number, in its colour.
pub(super) fn heat_number(heat_cm: u16, paint: Paint) -> String {
    let number = format!("{heat_cm:>4}");
    match ramp::tint(heat_cm).filter(|_| paint.colours) {
        Some(tint) => coloured(&number, Some(INK_ON_TINT), Some(tint)),
        None => number,
    }
}

/// A share of a whole number, rounded.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=whole first")]
#[expect(clippy::cast_precision_loss, reason = "no terminal has so many columns")]
fn portion(share: f64, whole: usize) -> usize {
    ((share.clamp(0.0, 1.0) * whole as f64).round() as usize).min(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::live::width;

    const PLAIN: Paint = Paint { colours: false };

    fn full(bar: &str) -> usize {
        bar.matches('\u{2588}').count()
    }

    #[test]
    fn the_bar_is_whites_from_the_left() {
        let white = |score| full(&evaluation(Some(score), 20, PLAIN));
        assert_eq!(
            (white(WhiteScore::Cm(0)), white(WhiteScore::Cm(200)), white(WhiteScore::Cm(-200))),
            (10, 16, 4)
        );
        assert_eq!((white(WhiteScore::WhiteWinsIn(9)), white(WhiteScore::BlackWinsIn(9))), (20, 0));
        for colours in [false, true] {
            for score in [None, Some(WhiteScore::Cm(30_000)), Some(WhiteScore::Cm(-1))] {
                assert_eq!(width(&evaluation(score, 17, Paint { colours })), 17);
            }
        }
    }

    #[test]
    fn a_line_of_scores_rises_with_whites_part() {
        let scores = [-100, 0, 50, 250].map(WhiteScore::Cm);
        assert_eq!(sparkline(&scores, 9), "\u{2581}\u{2583}\u{2584}\u{2588}");
        assert_eq!(sparkline(&scores, 2), "\u{2581}\u{2588}");
        assert_eq!(sparkline(&[], 2), "");
        // Next to nothing is next to nothing.
        assert_eq!(sparkline(&[0, 1, 0].map(WhiteScore::Cm), 9), "\u{2584}\u{2585}\u{2584}");
        let wins = [WhiteScore::BlackWinsIn(9), WhiteScore::WhiteWinsIn(9)];
        assert_eq!(sparkline(&wins, 9), "\u{2581}\u{2588}");
    }

    #[test]
    fn heat_is_full_at_its_ceiling() {
        assert_eq!(
            (full(&heat(0, 6, PLAIN)), full(&heat(120, 6, PLAIN)), full(&heat(u16::MAX, 6, PLAIN))),
            (0, 3, 6)
        );
        let colours = Paint { colours: true };
        assert_eq!((width(&heat(120, 6, colours)), width(&heat_number(120, colours))), (6, 4));
    }
}
