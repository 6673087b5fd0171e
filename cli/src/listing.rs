//! Lists for people: one table, as wide as what is in it.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// A table of texts; columns of which all cells begin with a digit are numbers and end at the right.
pub(crate) fn table<const COLUMNS: usize>(headings: [&str; COLUMNS], rows: &[[String; COLUMNS]]) -> String {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(headings);
    for row in rows {
        table.add_row(row.iter().map(|cell| printable(cell)));
    }
    for column in 0..COLUMNS {
        let number =
            |row: &[String; COLUMNS]| row[column].starts_with(|c: char| c.is_ascii_digit() || c == '-');
        if let Some(column) = table.column_mut(column).filter(|_| rows.iter().all(number)) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}

/// A text from elsewhere, without anything that a terminal would obey.
pub(crate) fn printable(text: &str) -> String {
    text.chars().flat_map(|c| if is_obeyed(c) { c.escape_debug().collect() } else { vec![c] }).collect()
}

/// Control characters, and those that turn the direction of writing, break lines or are not seen.
fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::{printable, table};

    #[test]
    fn numbers_end_at_the_right_and_nothing_is_obeyed() {
        let row = |name: &str, number: &str| [name.to_owned(), number.to_owned()];
        let shown = table(["name", "number"], &[row("a\u{1b}[2J", "7"), row("b", "1,234")]);
        assert!(
            shown.contains("\u{2502} a\\u{1b}[2J ") && shown.contains("\u{2506}      7 \u{2502}"),
            "{shown}"
        );
    }

    #[test]
    fn what_turns_or_hides_text_is_shown() {
        assert_eq!(printable("a\u{202e}b\u{9b}c\u{200b}"), "a\\u{202e}b\\u{9b}c\\u{200b}");
        assert_eq!(printable("\u{e4}\u{6f22}"), "\u{e4}\u{6f22}");
    }
}
