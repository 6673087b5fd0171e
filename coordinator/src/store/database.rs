//! A store in a database: what SQLite and PostgreSQL have in common. A batch is a transaction; after a fault the line is given
//! up, for what a broken one would do next is anybody's guess.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::connection::{Connection, fault};
use super::place::Place;
use super::postgres::PostgresServer;
use super::reader::{BookReader, DatabaseReader};
use super::sqlite::SqliteFile;
use super::{Kept, Store, StoreError, books, jobs};
use crate::cluster::Keep;

/// A store in a database.
#[derive(Debug)]
pub struct DatabaseStore {
    place: Place,
    home: Home,
    /// `None` after a fault, and while a batch is being written: a batch that is given up in the middle leaves no line behind.
    connection: Option<Connection>,
}

/// Where the database is; whoever has one of these holds it.
#[derive(Debug)]
enum Home {
    File(SqliteFile),
    Server(PostgresServer),
}

impl DatabaseStore {
    /// Opens or makes a store. `holder` is how others are told who has it, in at most 50 characters of ASCII.
    ///
    /// # Errors
    /// It cannot be had, is held by another process, is no store, or was made by a later version.
    pub async fn open(place: &Place, holder: &str) -> Result<Self, StoreError> {
        let (home, connection) = match place {
            Place::File(path) => {
                let (file, connection) = SqliteFile::open(path, holder).await?;
                (Home::File(file), connection)
            }
            Place::Postgres(url) => {
                let (server, connection) = PostgresServer::open(url, holder).await?;
                (Home::Server(server), connection)
            }
        };
        Ok(Self { place: place.clone(), home, connection: Some(connection) })
    }

    /// Lets a file have at most so many pages of 4 KiB, as if the disk were so small; for tests of full disks. Of a server it
    /// changes nothing.
    #[must_use]
    pub fn with_pages(self, pages: u32) -> Self {
        match self.home {
            Home::File(file) => {
                let home = Home::File(file.with_pages(pages));
                Self { place: self.place, home, connection: None }
            }
            Home::Server(_) => self,
        }
    }

    /// A line on which a transaction has begun.
    async fn begin(&mut self) -> Result<Connection, StoreError> {
        if let Some(mut kept) = self.connection.take() {
            match self.home.begin(&mut kept).await {
                // A line that broke while nobody used it: whether that is a fault shows with the next one.
                Err(error) if self.home.may_dial() => tracing::warn!(%error, "the store is dialled anew"),
                begun => return begun.map(|()| kept),
            }
        }
        let mut connection = self.home.connect().await?;
        self.home.begin(&mut connection).await?;
        Ok(connection)
    }

    async fn write(&mut self, batch: &[Keep]) -> Result<(), StoreError> {
        let mut connection = self.begin().await?;
        let written = async {
            // A job's row must be there before where it stands.
            books::write(&mut connection, batch).await?;
            jobs::write(&mut connection, batch).await?;
            connection.run("COMMIT").await
        };
        written.await.map_err(|error| fault(&error))?;
        self.connection = Some(connection);
        Ok(())
    }
}

impl Home {
    async fn connect(&mut self) -> Result<Connection, StoreError> {
        match self {
            Self::File(file) => file.connect().await.map_err(|error| fault(&error)),
            Self::Server(server) => server.connect().await,
        }
    }

    /// Whether a line that fails at once may only have been an old one.
    const fn may_dial(&self) -> bool {
        match self {
            Self::File(_) => false,
            Self::Server(server) => !server.is_lost(),
        }
    }

    /// Begins a transaction.
    async fn begin(&mut self, connection: &mut Connection) -> Result<(), StoreError> {
        match (self, connection) {
            (Self::Server(server), Connection::Postgres(line)) => server.begin(line).await,
            (_, connection) => connection.run("BEGIN").await.map_err(|error| fault(&error)),
        }
    }
}

impl Store for DatabaseStore {
    fn load(&mut self) -> BoxFuture<'_, Result<Kept, StoreError>> {
        Box::pin(async {
            let mut connection = match self.connection.take() {
                Some(connection) => connection,
                None => self.home.connect().await?,
            };
            let mut kept = jobs::load(&mut connection).await?;
            books::load(&mut connection, &mut kept).await?;
            self.connection = Some(connection);
            Ok(kept)
        })
    }

    fn commit<'a>(&'a mut self, batch: &'a [Keep]) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(self.write(batch))
    }

    fn reader(&self) -> Arc<dyn BookReader> {
        Arc::new(DatabaseReader::new(&self.place))
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let Some(connection) = self.connection else { return };
            if let Err(error) = connection.close().await {
                tracing::warn!(%error, "the store was not closed in good order; nothing is lost");
            }
        })
    }
}
