//! How a command ends when it does not end well: one line on standard error and an exit code.

use std::process::ExitCode;

use clap::error::ErrorKind;

use crate::out;

/// The most characters of a message that are shown; foreign text in it may be long.
const MAX_MESSAGE_CHARACTERS: usize = 400;

/// Why a command did not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input is wrong: exit code 2.
    BadInput(String),
    /// The work failed: exit code 1.
    Failed(anyhow::Error),
    /// Nobody reads standard output any more (`corridor ... | head`): the quiet end, exit code 0.
    OutputClosed,
}

impl Failure {
    /// Bad input, with a message that says what and where.
    pub(crate) fn bad_input(message: &dyn std::fmt::Display) -> Self {
        Self::BadInput(message.to_string())
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

/// Says what went wrong and which exit code that is.
pub(crate) fn report(failure: &Failure) -> ExitCode {
    match failure {
        Failure::OutputClosed => ExitCode::SUCCESS,
        Failure::BadInput(message) => {
            out::complain(&one_line(message));
            ExitCode::from(2)
        }
        Failure::Failed(error) => {
            out::complain(&one_line(&format!("{error:#}")));
            ExitCode::from(1)
        }
    }
}

/// The same for clap, whose messages run over several lines. Help and version are no failure.
pub(crate) fn report_usage(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match out::text(&error.render().to_string()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => report(&failure),
        },
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            report(&Failure::bad_input(&"a subcommand is wanted: see 'corridor --help'"))
        }
        _ => {
            let rendered = error.render().to_string();
            // What is wrong comes first; behind it stand the usage and a pointer to the help.
            let wrong = rendered.split("\n\n").next().unwrap_or(&rendered);
            report(&Failure::bad_input(&wrong.strip_prefix("error: ").unwrap_or(wrong)))
        }
    }
}

/// Folds white space, shows control characters and cuts what is too long.
fn one_line(message: &str) -> String {
    let folded = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let visible =
        folded.chars().flat_map(|c| if c.is_control() { c.escape_debug().collect() } else { vec![c] });
    let mut line: String = visible.take(MAX_MESSAGE_CHARACTERS + 1).collect();
    if line.chars().count() > MAX_MESSAGE_CHARACTERS {
        line.pop();
        line.push_str("...");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn messages_are_one_short_line() {
        assert_eq!(one_line("a\n  b\tc\u{7}"), "a b c\\u{7}");
        let long = one_line(&"x".repeat(10_000));
        assert_eq!(long.len(), super::MAX_MESSAGE_CHARACTERS + 3);
    }
}
