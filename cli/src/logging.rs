//! Logs: to standard error, warnings and worse unless `CORRIDOR_LOG` names another level.

use std::io::{self, IsTerminal};

use tracing_subscriber::filter::LevelFilter;

/// From now on what is logged is written.
///
/// # Errors
/// `CORRIDOR_LOG` is none of off, error, warn, info, debug and trace.
pub(crate) fn start() -> Result<(), String> {
    let level = match std::env::var("CORRIDOR_LOG") {
        Err(_) => LevelFilter::WARN,
        Ok(name) => name.parse().map_err(|_| {
            format!("CORRIDOR_LOG: '{name}' is none of off, error, warn, info, debug and trace")
        })?,
    };
    let subscriber = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .with_max_level(level);
    // A second start, as in tests, changes nothing.
    let _ = subscriber.try_init();
    Ok(())
}
