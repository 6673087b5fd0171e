//! Logs: to standard error, unless `CORRIDOR_LOG` names another level warnings and worse, of a server also what it does.

use std::io::{self, IsTerminal};

use tracing_subscriber::filter::LevelFilter;

use crate::out;

/// From now on what is logged is written.
///
/// # Errors
/// `CORRIDOR_LOG` is none of off, error, warn, info, debug and trace.
pub(crate) fn start() -> Result<(), String> {
    start_at(LevelFilter::WARN)
}

/// The same for a server, which tells more.
///
/// # Errors
/// As [`start`].
pub(crate) fn start_as_server() -> Result<(), String> {
    start_at(LevelFilter::INFO)
}

fn start_at(default: LevelFilter) -> Result<(), String> {
    let level = match std::env::var("CORRIDOR_LOG") {
        Err(std::env::VarError::NotPresent) => default,
        Err(std::env::VarError::NotUnicode(_)) => return Err("CORRIDOR_LOG is not valid UTF-8".to_owned()),
        Ok(name) if name.is_empty() => default,
        Ok(name) => name.parse().map_err(|_| {
            format!("CORRIDOR_LOG: '{name}' is none of off, error, warn, info, debug and trace")
        })?,
    };
    let subscriber = tracing_subscriber::fmt()
        .with_writer(|| out::Log)
        .with_ansi(io::stderr().is_terminal())
        .with_max_level(level);
    // A second start, as in tests, changes nothing.
    let _ = subscriber.try_init();
    Ok(())
}
