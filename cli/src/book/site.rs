//! Which book, and where it is.

use std::sync::Arc;

use clap::Args;
use corridor_coordinator::store::Place;
use corridor_proto::convert::book_name;

use crate::client::{Client, coordinator_url};
use crate::failure::Failure;
use crate::local_cluster::{Crew, LocalCluster};
use crate::store::{self, PlaceParser};

/// Where books are unless something else is said.
const USUAL_STORE: &str = "corridor.db";

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
        work: impl AsyncFnOnce(&Client) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.run(store, None, work).await
    }

    /// Does something with a crew, which a cluster elsewhere has itself.
    pub(crate) async fn run<T>(
        &self,
        wanted: Store,
        crew: Option<Crew>,
        work: impl AsyncFnOnce(&Client) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Some(place) = self.place() else {
            return work(&Client::new(self.coordinator.clone())).await;
        };
        if wanted == Store::Existing
            && let Place::File(file) = &place
            && !file.exists()
        {
            return Err(Failure::bad_input(&format!(
                "--store: there is no file {}: import a book into it, or name another one or a --coordinator",
                file.display()
            )));
        }
        let opened = store::open(Some(&place)).await?;
        let cluster = LocalCluster::resume(crew, opened).await?;
        let done = work(&Client::new(vec![cluster.url()])).await;
        cluster.stop().await;
        done
    }
}
