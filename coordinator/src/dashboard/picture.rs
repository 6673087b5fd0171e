//! What the cluster does, once a second: workers and what they hold, losses, jobs, the cache.
//!
//! It is looked at and encoded once for all who look on, and not at all while nobody does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use corridor_proto::json::{JobView, LossView, WorkerView};
use corridor_shared::job::{ENGINE_EPOCH, JobState};
use futures_util::{Stream, stream};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tonic::Status;

use crate::cluster::{Answer, Question};
use crate::driver::Handle;
use crate::limits::{PICTURE_INTERVAL, PICTURE_JOBS, VIEWER_ALIVE};
use crate::service::asked;

/// A picture with its number, as a message.
type Shown = Arc<(u64, Bytes)>;

#[expect(
    clippy::disallowed_methods,
    reason = "a page shows it to people, and it names this process; nothing is measured by it"
)]
fn unix_time() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO)
}

/// The pictures of a cluster.
pub(super) struct Pictures {
    cluster: Handle,
    stop: CancellationToken,
    instance: String,
    number: AtomicU64,
    shown: watch::Sender<Shown>,
    /// Somebody takes pictures.
    taken: tokio::sync::Mutex<bool>,
}

impl Pictures {
    pub(super) fn new(cluster: Handle, stop: CancellationToken) -> Self {
        let instance = format!("{:x}", unix_time().as_nanos() ^ u128::from(std::process::id()) << 64);
        let (shown, _) = watch::channel(Shown::default());
        Self {
            cluster,
            stop,
            instance,
            number: AtomicU64::new(0),
            shown,
            taken: tokio::sync::Mutex::new(false),
        }
    }

    async fn ask(&self, question: Question) -> Result<Answer, Status> {
        asked(self.cluster.ask(question).await)
    }

    /// The picture of this moment.
    pub(super) async fn now(&self) -> Result<String, Status> {
        let Answer::Workers(workers) = self.ask(Question::Workers).await? else { return Ok(String::new()) };
        let Answer::Losses(losses) = self.ask(Question::Losses).await? else { return Ok(String::new()) };
        let list = Question::List { limit: PICTURE_JOBS, before: None };
        let Answer::Jobs(mut jobs) = self.ask(list).await? else { return Ok(String::new()) };
        jobs.sort_by_key(|job| matches!(job.state, JobState::Done | JobState::Failed));
        let cache = self.cluster.cache().counts();
        Ok(json!({
            "instance": self.instance,
            "now_ms": u64::try_from(unix_time().as_millis()).unwrap_or(u64::MAX),
            "epoch": ENGINE_EPOCH,
            "workers": workers.iter().map(WorkerView::from).collect::<Vec<_>>(),
            "losses": losses.iter().map(LossView::from).collect::<Vec<_>>(),
            "jobs": jobs.iter().map(JobView::from).collect::<Vec<_>>(),
            "cache": {
                "entries": cache.entries,
                "max_entries": cache.max_entries,
                "sent": cache.sent,
                "received": cache.received,
                "cutoffs": cache.cutoffs,
            },
        })
        .to_string())
    }

    /// One picture after the other.
    pub(super) async fn view(self: Arc<Self>) -> Result<impl Stream<Item = Bytes> + Send + use<>, Status> {
        let mut pictures = self.shown.subscribe();
        self.begin().await?;
        // Whatever there is, is new to somebody who comes.
        pictures.mark_changed();
        let stop = self.stop.clone();
        Ok(stream::unfold((pictures, stop), |(mut pictures, stop)| async move {
            let next = timeout(VIEWER_ALIVE, pictures.changed());
            let bytes = tokio::select! {
                () = stop.cancelled() => return None,
                changed = next => match changed {
                    Ok(Ok(())) => pictures.borrow_and_update().1.clone(),
                    Ok(Err(_)) => return None,
                    Err(_) => Bytes::from_static(b": alive\n\n"),
                },
            };
            Some((bytes, (pictures, stop)))
        }))
    }

    /// Takes pictures from now on, as long as somebody looks.
    async fn begin(self: &Arc<Self>) -> Result<(), Status> {
        let mut taken = self.taken.lock().await;
        self.take().await?;
        if std::mem::replace(&mut *taken, true) {
            return Ok(());
        }
        let pictures = Arc::clone(self);
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = pictures.stop.cancelled() => return,
                    () = tokio::time::sleep(PICTURE_INTERVAL) => {}
                }
                let mut taken = pictures.taken.lock().await;
                if pictures.shown.receiver_count() == 0 || pictures.take().await.is_err() {
                    *taken = false;
                    return;
                }
            }
        });
        Ok(())
    }

    async fn take(&self) -> Result<(), Status> {
        let text = self.now().await?;
        let number = self.number.fetch_add(1, Ordering::Relaxed) + 1;
        let bytes = Bytes::from(format!("id: {number}\nretry: 1000\ndata: {text}\n\n"));
        self.shown.send_replace(Arc::new((number, bytes)));
        Ok(())
    }
}
