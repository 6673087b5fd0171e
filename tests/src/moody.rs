//! A store with moods: its disk is full, or it does not answer, for as long as a test wants.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use corridor_coordinator::cluster::Keep;
use corridor_coordinator::store::{BookReader, DatabaseStore, Kept, Store, StoreError};
use futures_util::future::BoxFuture;
use tokio::sync::RwLock;

/// What a store is told to do.
#[derive(Debug, Default)]
pub struct Mood {
    /// Nothing can be written.
    pub full: AtomicBool,
    /// Whoever holds this lets nothing be written meanwhile.
    pub busy: RwLock<()>,
    commits: AtomicU64,
}

impl Mood {
    /// How often something was to be written.
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Whether the disk is full from now on.
    pub fn set_full(&self, full: bool) {
        self.full.store(full, Ordering::Relaxed);
    }
}

/// See the module.
#[derive(Debug)]
pub struct Moody {
    store: DatabaseStore,
    mood: Arc<Mood>,
}

impl Moody {
    /// A store, and what changes its mood.
    pub fn new(store: DatabaseStore) -> (Self, Arc<Mood>) {
        let mood = Arc::new(Mood::default());
        (Self { store, mood: Arc::clone(&mood) }, mood)
    }
}

impl Store for Moody {
    fn load(&mut self) -> BoxFuture<'_, Result<Kept, StoreError>> {
        self.store.load()
    }

    fn commit<'a>(&'a mut self, batch: &'a [Keep]) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.mood.commits.fetch_add(1, Ordering::Relaxed);
            let _free = self.mood.busy.read().await;
            if self.mood.full.load(Ordering::Relaxed) {
                return Err(StoreError::Write("database or disk is full".to_owned()));
            }
            self.store.commit(batch).await
        })
    }

    fn reader(&self) -> Arc<dyn BookReader> {
        self.store.reader()
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::new(self.store).close()
    }
}
