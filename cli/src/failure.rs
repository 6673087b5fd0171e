//! How a command ends when it does not end well: one line on standard error and an exit code.

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::{args, out};

/// The most characters of a message that are shown; foreign text in it may be long.
const MAX_MESSAGE_CHARACTERS: usize = 400;

/// Why a command did not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input is wrong: exit code 2.
    BadInput(String),
    /// The work failed: exit code 1.
    Failed(anyhow::Error),
    /// The work was cut short, and what is known has been printed: exit code 1.
    Interrupted(String),
    /// Nobody reads standard output any more (`corridor ... | head`): the quiet end, exit code 0.
    OutputClosed,
}

impl Failure {
    /// Bad input, with a message that says what and where.
    pub(crate) fn bad_input(message: &dyn std::fmt::Display) -> Self {
        Self::BadInput(message.to_string())
    }

    /// Cut short, with how much is done.
    pub(crate) fn interrupted(done: &dyn std::fmt::Display) -> Self {
        Self::Interrupted(done.to_string())
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
        Failure::Interrupted(done) => {
            out::complain(&one_line(&format!("interrupted: {done}")));
            ExitCode::from(1)
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
            let rendered = error.render().to_string();
            let command = command_in(&rendered).unwrap_or("corridor");
            report(&Failure::bad_input(&format!("a subcommand is wanted: see '{command} --help'")))
        }
        ErrorKind::InvalidUtf8 => report(&Failure::bad_input(&format!("{} is not valid UTF-8", not_utf_8()))),
        _ => {
            let rendered = error.render().to_string();
            // What is wrong comes first; behind it stand the usage and a pointer to the help.
            let wrong = rendered.split("\n\n").next().unwrap_or(&rendered);
            let wrong = wrong.strip_prefix("error: ").unwrap_or(wrong);
            match variable_at_fault(error) {
                None => report(&Failure::bad_input(&wrong)),
                Some(variable) => report(&Failure::bad_input(&format!("{variable}: {wrong}"))),
            }
        }
    }
}

/// The command whose help it is: what stands before its options and subcommands in the line about its usage.
fn command_in(help: &str) -> Option<&str> {
    let usage = help.lines().find_map(|line| line.trim().strip_prefix("Usage: "))?;
    Some(usage.split(['[', '<']).next()?.trim())
}

/// The variable that brought in what an error complains of.
fn variable_at_fault(error: &clap::Error) -> Option<String> {
    [ContextKind::InvalidArg, ContextKind::PriorArg].into_iter().find_map(|kind| match error.get(kind)? {
        ContextValue::String(flag) => args::variable_behind(flag),
        ContextValue::Strings(flags) => flags.iter().find_map(|flag| args::variable_behind(flag)),
        _ => None,
    })
}

/// Which argument (counted after the command's own name) or variable is not valid UTF-8. The names of files need not be.
fn not_utf_8() -> String {
    let mut before = String::new();
    for (number, argument) in std::env::args_os().enumerate().skip(1) {
        if argument.to_str().is_none() && !["--svg", "--html"].contains(&before.as_str()) {
            let place = if before.starts_with("--") { format!(" (after {before})") } else { String::new() };
            return format!("argument {number}{place}");
        }
        before = argument.to_string_lossy().into_owned();
    }
    let mut variables = args::variables().into_iter().map(|(_, variable)| variable);
    variables.find(|name| std::env::var(name).is_err()).unwrap_or_else(|| "an argument".to_owned())
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
