//! Pictures of positions: for a terminal, as SVG, as a page.

pub(crate) mod board;
pub(crate) mod html;
pub(crate) mod ramp;
mod score;
pub(crate) mod svg;

pub(crate) use score::{bounded, in_plies, score};

/// Text as it may stand in HTML and SVG, also between quotes.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // Control characters are no part of any XML.
            control if control.is_control() && !matches!(control, '\n' | '\t') => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}
