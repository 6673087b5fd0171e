//! The one task that writes: a batch a transaction, again and again until it is durable.

use tokio::sync::mpsc;
use tracing::warn;

use super::Store;
use crate::cluster::Keep;
use crate::limits::{STORE_RETRY_MAX, STORE_RETRY_MIN};

/// What is to be made durable at once.
#[derive(Debug)]
pub(crate) struct Batch {
    /// Number of the last entry, counted over all batches.
    pub(crate) last: u64,
    /// The entries.
    pub(crate) entries: Vec<Keep>,
}

/// What the writer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// All entries up to this number are durable.
    Committed(u64),
    /// A batch could not be written; it is tried again.
    Fault(String),
}

/// Writes batches until there are no more, or until nobody waits for news.
pub(crate) async fn run(
    mut store: Box<dyn Store>,
    mut batches: mpsc::Receiver<Batch>,
    news: mpsc::Sender<News>,
) {
    while let Some(batch) = batches.recv().await {
        let mut pause = STORE_RETRY_MIN;
        loop {
            let committed = tokio::select! {
                committed = store.commit(&batch.entries) => committed,
                // Nobody waits any more for a database that may never answer.
                () = news.closed() => return store.close().await,
            };
            let told = match committed {
                Ok(()) => News::Committed(batch.last),
                Err(error) => {
                    warn!(%error, ?pause, "a batch is not stored; trying again");
                    News::Fault(error.to_string())
                }
            };
            let written = matches!(told, News::Committed(_));
            if news.send(told).await.is_err() {
                return store.close().await;
            }
            if written {
                break;
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = news.closed() => return store.close().await,
            }
            pause = (pause * 2).min(STORE_RETRY_MAX);
        }
    }
    store.close().await;
}

#[cfg(test)]
mod tests {
    use futures_util::future::BoxFuture;

    use super::*;
    use crate::store::{Kept, StoreError};

    /// Fails so many times.
    struct Moody(u32);

    impl Store for Moody {
        fn reader(&self) -> std::sync::Arc<dyn crate::store::BookReader> {
            unreachable!("nobody looks into it")
        }

        fn load(&mut self) -> BoxFuture<'_, Result<Kept, StoreError>> {
            Box::pin(async { Ok(Kept::default()) })
        }

        fn commit<'a>(&'a mut self, _batch: &'a [Keep]) -> BoxFuture<'a, Result<(), StoreError>> {
            let fails = self.0 > 0;
            self.0 = self.0.saturating_sub(1);
            Box::pin(async move { if fails { Err(StoreError::Write("full".to_owned())) } else { Ok(()) } })
        }

        fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
            Box::pin(async {})
        }
    }

    #[tokio::test]
    async fn a_batch_is_tried_until_it_is_there() {
        let (batches, received) = mpsc::channel(1);
        let (news, mut told) = mpsc::channel(8);
        let writing = tokio::spawn(run(Box::new(Moody(3)), received, news));
        batches.send(Batch { last: 5, entries: Vec::new() }).await.expect("a writer");
        let started = tokio::time::Instant::now();
        for _ in 0..3 {
            let text = "the store cannot be written: full".to_owned();
            assert_eq!(told.recv().await, Some(News::Fault(text)));
        }
        assert_eq!(told.recv().await, Some(News::Committed(5)));
        // The pauses double.
        assert!(started.elapsed() > STORE_RETRY_MIN * 6, "{:?}", started.elapsed());
        drop(batches);
        writing.await.expect("an orderly end");
    }

    #[tokio::test]
    async fn a_writer_ends_when_nobody_waits_for_it() {
        let (batches, received) = mpsc::channel(1);
        let (news, mut told) = mpsc::channel(8);
        let writing = tokio::spawn(run(Box::new(Moody(u32::MAX)), received, news));
        batches.send(Batch { last: 1, entries: Vec::new() }).await.expect("a writer");
        assert!(matches!(told.recv().await, Some(News::Fault(_))));
        drop(told);
        writing.await.expect("an orderly end");
    }
}
