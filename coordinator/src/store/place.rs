//! Where a store is: a file, or a PostgreSQL server by its URL. What is shown of a URL never holds its password.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use sqlx::postgres::PgConnectOptions;

/// What may stand behind the `?` of a URL.
const PARAMETERS: [&str; 12] = [
    "application_name",
    "dbname",
    "host",
    "hostaddr",
    "options",
    "password",
    "port",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "user",
];

/// Where a store is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// An SQLite file.
    File(PathBuf),
    /// A database of a PostgreSQL server.
    Postgres(PostgresUrl),
}

/// The URL of a PostgreSQL database, `postgres://USER:PASSWORD@HOST:PORT/DATABASE?NAME=VALUE`. Whatever is left out comes
/// from the variables and the password file that PostgreSQL's own tools use. It shows itself without its password.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresUrl(String);

/// Why a text is no place. Nothing of the text itself is in it, for that may hold a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// It is empty.
    #[error("the name of a file or a URL is wanted")]
    Empty,
    /// It is a URL of something else.
    #[error(
        "stores in {0} are not supported: the name of a file, or a URL that begins with postgres:// is wanted"
    )]
    Scheme(String),
    /// It is no URL.
    #[error("{0}")]
    Url(String),
}

impl FromStr for Place {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<Self, PlaceError> {
        if text.is_empty() {
            return Err(PlaceError::Empty);
        }
        let Some((scheme, rest)) = text.split_once("://") else { return Ok(Self::File(text.into())) };
        if !["postgres", "postgresql"].contains(&scheme) {
            let is_name = scheme.chars().all(|c| c.is_ascii_lowercase()) && (1..=20).contains(&scheme.len());
            let shown = if is_name { format!("{scheme}://") } else { "such URLs".to_owned() };
            return Err(PlaceError::Scheme(shown));
        }
        check(rest)?;
        let url = PostgresUrl(text.to_owned());
        url.options().map_err(PlaceError::Url)?;
        Ok(Self::Postgres(url))
    }
}

/// Refuses what would be read as something else than was meant, and then shown.
fn check(rest: &str) -> Result<(), PlaceError> {
    let tail = rest.find(['/', '?', '#']).map_or("", |at| &rest[at..]);
    if tail.contains(['@', '#']) {
        let why = "special characters in a password or a name are written %2F for a /, %3F for a ?, %23 for a #, %40 for a @";
        return Err(PlaceError::Url(why.to_owned()));
    }
    let pairs =
        tail.split_once('?').map_or("", |(_, pairs)| pairs).split('&').filter(|pair| !pair.is_empty());
    for (number, pair) in (1..).zip(pairs) {
        let name = pair.split('=').next().unwrap_or_default();
        let name = name.split('[').next().unwrap_or_default();
        if !PARAMETERS.contains(&name) {
            let known = PARAMETERS.join(", ");
            let why = format!("parameter {number} behind the ? is not known: there are {known}");
            return Err(PlaceError::Url(why));
        }
    }
    Ok(())
}

impl Place {
    /// A file.
    #[must_use]
    pub fn file(path: &Path) -> Self {
        Self::File(path.to_owned())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Postgres(url) => url.fmt(f),
        }
    }
}

impl PostgresUrl {
    /// As the library wants it.
    pub(super) fn options(&self) -> Result<PgConnectOptions, String> {
        self.0.parse::<PgConnectOptions>().map_err(|error| match error {
            sqlx::Error::Configuration(why) => {
                let why = why.to_string();
                why.strip_prefix("error with configuration: ").unwrap_or(&why).to_owned()
            }
            other => other.to_string(),
        })
    }
}

impl fmt::Display for PostgresUrl {
    /// Put together from what was understood, so that nothing else gets in.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ok(options) = self.options() else { return f.write_str("postgres://") };
        let (user, port) = (options.get_username(), options.get_port());
        let database = options.get_database().unwrap_or(user);
        match options.get_socket() {
            None => write!(f, "postgres://{user}@{}:{port}/{database}", options.get_host()),
            Some(socket) => {
                write!(f, "postgres:///{database}?host={}&port={port}&user={user}", socket.display())
            }
        }
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_databases_are_told_apart() {
        assert_eq!("corridor.db".parse(), Ok(Place::file(Path::new("corridor.db"))));
        for (text, shown) in [
            ("postgres://ada:geheim@db.example:5433/games", "postgres://ada@db.example:5433/games"),
            ("postgresql://ada@[::1]/games?sslmode=require", "postgres://ada@[::1]:5432/games"),
            ("postgres://ada:ge%40heim@db/", "postgres://ada@db:5432/ada"),
            ("postgres://db/games?user=ada&password=geheim&port=7", "postgres://ada@db:7/games"),
            (
                "postgres:///games?host=/run/pg&port=5432&user=ada&password=geheim",
                "postgres:///games?host=/run/pg&port=5432&user=ada",
            ),
            ("postgres://ada@db/games?options[search_path]=mine", "postgres://ada@db:5432/games"),
        ] {
            let place: Place = text.parse().expect(text);
            assert_eq!(place.to_string(), shown);
            assert!(!format!("{place:?}").contains("heim"), "{place:?}");
        }
    }

    #[test]
    fn what_is_no_place_is_named_and_no_password_is_repeated() {
        for (text, complaint) in [
            ("", "the name of a file or a URL is wanted"),
            ("mysql://u:geheim@h/db", "stores in mysql:// are not supported: "),
            ("u:geheim@h/x://", "stores in such URLs are not supported: "),
            ("postgres://u:geheim@h:port/db", "invalid port number"),
            ("postgres://u:gehe/im@h/db", "special characters in a password"),
            ("postgres://u:12/geheim@h/db", "special characters in a password"),
            ("postgres://u:12?geheim@h/db", "special characters in a password"),
            ("postgres://u:12#geheim@h/db", "special characters in a password"),
            (
                "postgres://u@h/db?sslmode=disable&geheim=1",
                "parameter 2 behind the ? is not known: there are ",
            ),
            ("postgres://u@h/db?sslmode=perhaps", "unknown value"),
        ] {
            let error = text.parse::<Place>().expect_err(text).to_string();
            assert!(error.starts_with(complaint), "{text}: {error}");
            assert!(!error.contains("geheim"), "{error}");
        }
    }
}
