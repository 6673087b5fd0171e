//! Which book, and where it is.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use corridor_coordinator::store::Place;
use corridor_proto::convert::book_name;

use crate::client::{Client, coordinator_url};
use crate::failure::Failure;
use crate::local_cluster::{Crew, LocalCluster};
use crate::signals::Interrupts;
use crate::store::{self, PlaceParser};

/// Where books are unless something else is said.
const USUAL_STORE: &str = "corridor.db";
/// How long somebody who was interrupted asks what is known.
const LAST_QUESTION_TIME: Duration = Duration::from_secs(2);

/// Where the books are: a store or a cluster.
#[derive(Args, Clone, Debug)]
pub(crate) struct SiteArgs {
    /// The store with the books, an SQLite file or a PostgreSQL database (postgres://USER@HOST/DATABASE); the whole cluster
    /// then runs in this process [default: corridor.db]
    #[arg(long, value_name = "FILE-OR-URL", conflicts_with = "coordinator", value_parser = PlaceParser)]
    store: Option<Place>,

    /// The cluster with the books, http://HOST:PORT; of several, separated by commas, the first that answers
    #[arg(long, value_name = "URL", value_delimiter = ',', env = "CORRIDOR_COORDINATOR",
          value_parser = coordinator_url)]
    coordinator: Vec<String>,
}

/// Which book.
#[derive(Args, Clone, Debug)]
pub(crate) struct BookArgs {
    /// The book's name: letters, digits, '-', '_' and '.'
    #[arg(long = "book", value_name = "NAME", default_value = "main", value_parser = name)]
    pub(crate) name: Arc<str>,

    #[command(flatten)]
    pub(crate) site: SiteArgs,
}

fn name(text: &str) -> Result<Arc<str>, String> {
    book_name(text, "book").map_err(|error| error.fault)
}

/// Whether a store may be new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Store {
    /// It is made if it is not there.
    Any,
    /// There must be something in it already.
    Existing,
}

impl SiteArgs {
    /// It is a cluster elsewhere.
    pub(crate) fn is_remote(&self) -> bool {
        !self.coordinator.is_empty()
    }

    /// The cluster's addresses, if it is one.
    pub(crate) fn urls(&self) -> &[String] {
        &self.coordinator
    }

    /// The store, if it is in this process.
    pub(crate) fn place(&self) -> Option<Place> {
        let usual = || Place::File(USUAL_STORE.into());
        (!self.is_remote()).then(|| self.store.clone().unwrap_or_else(usual))
    }

    /// Does something that needs no workers.
    pub(crate) async fn ask<T>(
        &self,
        store: Store,
        interrupts: &Interrupts,
        work: impl AsyncFnOnce(&Client) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.run(store, None, interrupts, work).await
    }

    /// Does something that changes nothing. In this process that needs no hold of the store: it may be one that another process
    /// works on, or that cannot be written.
    pub(crate) async fn look<T>(
        &self,
        interrupts: &Interrupts,
        work: impl AsyncFnOnce(&Client) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Some(place) = self.place() else {
            return work(&Client::new(self.coordinator.clone())).await;
        };
        must_exist(&place)?;
        let books = begun(interrupts, store::look(&place)).await?;
        Self::within(LocalCluster::look(books).await?, work).await
    }

    /// Does something with a crew, which a cluster elsewhere has itself.
    pub(crate) async fn run<T>(
        &self,
        wanted: Store,
        crew: Option<Crew>,
        interrupts: &Interrupts,
        work: impl AsyncFnOnce(&Client) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Some(place) = self.place() else {
            return work(&Client::new(self.coordinator.clone())).await;
        };
        if wanted == Store::Existing {
            must_exist(&place)?;
        }
        let opened = begun(interrupts, store::open(Some(&place))).await?;
        Self::within(LocalCluster::resume(crew, opened).await?, work).await
    }

    /// Does something on a cluster of this process, which ends in good order whatever comes of it.
    async fn within<T>(
        cluster: LocalCluster,
        work: impl AsyncFnOnce(&Client) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let done = work(&Client::new(vec![cluster.url()])).await;
        cluster.stop().await;
        done
    }

    /// How many positions a book has now; `None` if that cannot be found out. Nobody waits long for it.
    pub(crate) async fn positions_of(&self, book: &str) -> Option<u64> {
        let count = async {
            let Some(place) = self.place() else {
                return positions_of(&Client::new(self.coordinator.clone()), book).await;
            };
            let listed = store::look(&place).await.ok()?.list().await.ok()?;
            Some(listed.iter().find(|it| it.name == book).map_or(0, |it| it.positions))
        };
        tokio::time::timeout(LAST_QUESTION_TIME, count).await.ok().flatten()
    }
}

/// How many positions a book has on a cluster.
pub(super) async fn positions_of(client: &Client, book: &str) -> Option<u64> {
    let listed = client.books().await.ok()?.list().await.ok()?;
    Some(listed.iter().find(|it| it.book == book).map_or(0, |it| it.positions))
}

/// Begins something, unless somebody wants an end before.
async fn begun<T>(
    interrupts: &Interrupts,
    begin: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    until(interrupts, begin, || "nothing had begun yet".to_owned()).await
}

/// Does something until it is done or somebody wants an end; then it is said what is known.
pub(super) async fn until<T>(
    interrupts: &Interrupts,
    work: impl Future<Output = Result<T, Failure>>,
    known: impl FnOnce() -> String,
) -> Result<T, Failure> {
    let mut interrupts = interrupts.clone();
    tokio::select! {
        done = work => done,
        () = interrupts.wait() => Err(Failure::interrupted(&known())),
    }
}

fn must_exist(place: &Place) -> Result<(), Failure> {
    match place {
        Place::File(file) if !file.exists() => Err(Failure::bad_input(&format!(
            "--store: there is no file {}: import a book into it, or name another one or a --coordinator",
            file.display()
        ))),
        _ => Ok(()),
    }
}
