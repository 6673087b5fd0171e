//! What outlives a coordinator: killed at any moment and started again on the same file or database, it goes on where its jobs
//! were, and nobody who watches sees a gap or a repeat.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use corridor_coordinator::Coordinator;
use corridor_coordinator::cluster::Keep;
use corridor_coordinator::limits::{MAX_OPEN_JOBS, RETAINED_JOBS};
use corridor_coordinator::store::{BookReader, DatabaseStore, Kept, Place, Store, StoreError};
use corridor_proto::v1;
use corridor_proto::v1::analysis_client::AnalysisClient;
use corridor_shared::Position;
use corridor_shared::job::{EventRecord, JobEvent, JobLimits, JobSpec, JobState, StoppedBy};
use tokio::runtime::Runtime;
use tonic::Code;
use tonic::transport::Channel;

use corridor_tests::{
    ANY_PORT, LONG, accept, analysis, answer, check, file, grounds, is_depth, lasting, moves, read_until,
    rest, serve, spec, store, submit, summary, watch, worker,
};

/// A process's worth of threads, to be killed as suddenly as one: dropping it aborts whatever runs.
fn process() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Ends a process without a word.
fn kill(process: Runtime) {
    process.shutdown_background();
}

async fn durable(place: &Place) -> Coordinator {
    serve(ANY_PORT, store(place).await).await
}

#[test]
fn a_killed_coordinator_goes_on_with_its_jobs_and_cursors_hold() {
    for ground in grounds() {
        let place = &ground.place;
        let position = moves("e2 e8 e3 e7 e4 e6");
        let deterministic = JobSpec { deterministic: true, ..lasting(position, 9) };
        let undisturbed = process();
        let expected = undisturbed.block_on(async {
            let coordinator = corridor_tests::coordinator(Duration::from_secs(10)).await;
            let _worker = worker(&coordinator, "a").await;
            let mut client = analysis(&coordinator).await;
            let mut events = submit(&mut client, &deterministic).await;
            corridor_tests::done(&rest(&mut events, Vec::new()).await)
        });
        kill(undisturbed);

        let mut seen = Vec::new();
        // Killed before anybody worked, in the middle of a depth, and again.
        for (life, depth) in [(0, 0), (1, 3), (2, 5)] {
            let process = process();
            process.block_on(async {
                let coordinator = durable(place).await;
                let mut client = analysis(&coordinator).await;
                if life == 0 {
                    assert_eq!(accept(&mut client, &deterministic).await.expect("accepted"), 1);
                    return;
                }
                let _worker = worker(&coordinator, "a").await;
                let after = seen.last().map_or(0, |record: &EventRecord| record.seq);
                let mut events = watch(&mut client, 1, after).await.expect("a stream");
                read_until(&mut events, &mut seen, is_depth(depth)).await;
                // Somewhere within the next depth.
                read_until(&mut events, &mut seen, |event| matches!(event, JobEvent::Move(_))).await;
            });
            kill(process);
        }
        let process = process();
        process.block_on(async {
            let coordinator = durable(place).await;
            let mut client = analysis(&coordinator).await;
            let found = summary(&mut client, 1).await;
            assert_eq!((found.state, found.depth >= 5), (JobState::Waiting, true), "{found:?}");
            let _worker = worker(&coordinator, "a").await;
            let mut events = watch(&mut client, 1, seen.last().unwrap().seq).await.expect("a stream");
            read_until(&mut events, &mut seen, |_| false).await;
            assert_eq!(answer(&check(&seen)), answer(&expected));
            // Numbers go on, and so does whoever asks for everything again.
            assert_eq!(accept(&mut client, &lasting(position, 1)).await.expect("accepted"), 2);
            let mut again = Vec::new();
            let mut events = watch(&mut client, 1, 0).await.expect("a stream");
            read_until(&mut events, &mut again, |_| false).await;
            assert_eq!(again, seen);
            coordinator.stop().await;
        });
    }
}

#[test]
fn an_ended_job_can_be_watched_after_a_restart_and_time_spent_counts() {
    for ground in grounds() {
        let place = &ground.place;
        let first = process();
        let (ended, open) = first.block_on(async {
            let coordinator = durable(place).await;
            let _worker = worker(&coordinator, "a").await;
            let mut client = analysis(&coordinator).await;
            let mut events = submit(&mut client, &spec(Position::start(), 3)).await;
            let ended = rest(&mut events, Vec::new()).await;
            let limits = JobLimits { time: Some(Duration::from_secs(3)), ..JobLimits::default() };
            let job = accept(&mut client, &JobSpec { limits, ..lasting(Position::start(), 60) })
                .await
                .expect("accepted");
            tokio::time::sleep(Duration::from_millis(1_500)).await;
            // An orderly end keeps the last moment.
            coordinator.stop().await;
            (ended, job)
        });
        kill(first);
        // What passes while nobody lives does not count.
        std::thread::park_timeout(Duration::from_millis(1_000));
        process().block_on(async {
            let coordinator = durable(place).await;
            let mut client = analysis(&coordinator).await;
            let mut again = Vec::new();
            read_until(&mut watch(&mut client, 1, 0).await.expect("a stream"), &mut again, |_| false).await;
            assert_eq!(again, ended);
            let beyond =
                watch(&mut client, 1, u64::try_from(ended.len()).unwrap() + 1).await.expect_err("beyond");
            assert_eq!(beyond.code(), Code::InvalidArgument);
            assert_eq!(watch(&mut client, 9, 0).await.expect_err("unknown").code(), Code::NotFound);

            let found = summary(&mut client, open).await;
            let elapsed = found.elapsed;
            assert!(
                elapsed >= Duration::from_millis(1_500) && elapsed < Duration::from_millis(2_300),
                "{elapsed:?}"
            );
            assert!(found.depth > 0 && found.nodes > 0, "{found:?}");
            let _worker = worker(&coordinator, "a").await;
            let mut events = Vec::new();
            read_until(&mut watch(&mut client, open, 0).await.expect("a stream"), &mut events, |_| false)
                .await;
            let done = check(&events);
            assert_eq!(done.stopped_by, StoppedBy::Time);
            assert!(
                done.elapsed >= Duration::from_secs(3) && done.elapsed < Duration::from_secs(5),
                "{done:?}"
            );
            coordinator.stop().await;
        });
    }
}

#[test]
fn a_pause_outlives_a_restart_and_an_unwatched_job_its_client() {
    for ground in grounds() {
        let place = &ground.place;
        let first = process();
        first.block_on(async {
            let coordinator = durable(place).await;
            let mut client = analysis(&coordinator).await;
            let job = accept(&mut client, &lasting(Position::start(), 4)).await.expect("accepted");
            client.pause(v1::PauseRequest { job }).await.expect("paused");
        });
        kill(first);
        process().block_on(async {
            let coordinator = durable(place).await;
            let _worker = worker(&coordinator, "a").await;
            let mut client = analysis(&coordinator).await;
            tokio::time::sleep(Duration::from_millis(300)).await;
            let found = summary(&mut client, 1).await;
            assert_eq!((found.state, found.nodes), (JobState::Paused, 0));
            client.resume(v1::ResumeRequest { job: 1 }).await.expect("resumed");
            let mut events = Vec::new();
            read_until(&mut watch(&mut client, 1, 0).await.expect("a stream"), &mut events, |_| false).await;
            assert_eq!(check(&events).depth, 4);
            coordinator.stop().await;
        });
    }
}

#[test]
fn what_is_accepted_is_durable_and_the_surplus_is_refused_by_name() {
    for ground in grounds() {
        let place = &ground.place;
        let first = process();
        let accepted = first.block_on(async {
            let coordinator = durable(place).await;
            let client = analysis(&coordinator).await;
            let one = |mut client: AnalysisClient<Channel>| async move {
                accept(&mut client, &lasting(Position::start(), 3)).await
            };
            let tasks: Vec<_> = (0..MAX_OPEN_JOBS + 20).map(|_| tokio::spawn(one(client.clone()))).collect();
            let mut accepted = Vec::new();
            for task in tasks {
                match task.await.expect("no panic") {
                    Ok(job) => accepted.push(job),
                    Err(status) => {
                        assert_eq!(status.code(), Code::ResourceExhausted);
                        assert_eq!(status.message(), format!("max_open_jobs {MAX_OPEN_JOBS} is reached"));
                    }
                }
            }
            accepted
        });
        // Whoever was told a number finds it, however suddenly the end came.
        kill(first);
        assert_eq!(accepted.len(), MAX_OPEN_JOBS);
        process().block_on(async {
            let coordinator = durable(place).await;
            let mut client = analysis(&coordinator).await;
            for job in accepted {
                assert_eq!(summary(&mut client, job).await.state, JobState::Waiting);
            }
            let surplus = accept(&mut client, &lasting(Position::start(), 3)).await.expect_err("full");
            assert_eq!(surplus.code(), Code::ResourceExhausted);
            coordinator.stop().await;
        });
    }
}

#[test]
fn only_so_many_ended_jobs_are_kept() {
    for ground in grounds() {
        let place = &ground.place;
        // A game that is over: the answer is there at once.
        let over = moves("e2 d9 e3 e9 e4 d9 e5 e9 e6 d9 e7 e9 e8 d9 e9");
        let first = process();
        first.block_on(async {
            let coordinator = durable(place).await;
            let mut client = analysis(&coordinator).await;
            for _ in 0..RETAINED_JOBS + 3 {
                accept(&mut client, &lasting(over, 1)).await.expect("accepted");
            }
        });
        kill(first);
        process().block_on(async {
            let coordinator = durable(place).await;
            let mut client = analysis(&coordinator).await;
            for (job, found) in [(1, false), (3, false), (4, true), (5, true)] {
                assert_eq!(watch(&mut client, job, 0).await.is_ok(), found, "job {job}");
            }
            let next = accept(&mut client, &lasting(over, 1)).await.expect("accepted");
            assert_eq!(next, u64::try_from(RETAINED_JOBS + 4).unwrap());
            coordinator.stop().await;
        });
    }
}

/// A store whose disk is full, or that does not answer, for as long as the test wants.
struct Moody {
    store: DatabaseStore,
    full: Arc<AtomicBool>,
    commits: Arc<AtomicU64>,
}

impl Store for Moody {
    fn load(&mut self) -> futures_util::future::BoxFuture<'_, Result<Kept, StoreError>> {
        self.store.load()
    }

    fn commit<'a>(
        &'a mut self,
        batch: &'a [Keep],
    ) -> futures_util::future::BoxFuture<'a, Result<(), StoreError>> {
        self.commits.fetch_add(1, Ordering::Relaxed);
        if self.full.load(Ordering::Relaxed) {
            return Box::pin(async { Err(StoreError::Write("database or disk is full".to_owned())) });
        }
        self.store.commit(batch)
    }

    fn reader(&self) -> Arc<dyn BookReader> {
        self.store.reader()
    }

    fn close(self: Box<Self>) -> futures_util::future::BoxFuture<'static, ()> {
        Box::new(self.store).close()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_pauses_jobs_says_so_and_loses_nothing() {
    for ground in grounds() {
        let place = &ground.place;
        let (full, commits) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let moody =
            Moody { store: store(place).await, full: Arc::clone(&full), commits: Arc::clone(&commits) };
        let coordinator = serve(ANY_PORT, moody).await;
        let mut ready = coordinator.readiness();
        let _worker = worker(&coordinator, "a").await;
        let mut client = analysis(&coordinator).await;
        let limits = JobLimits { time: Some(Duration::from_secs(3)), ..JobLimits::default() };
        let timed = JobSpec { limits, ..lasting(moves("e2 e8"), 60) };
        let job = accept(&mut client, &timed).await.expect("accepted");
        let mut events = watch(&mut client, job, 0).await.expect("a stream");
        let mut seen = Vec::new();
        read_until(&mut events, &mut seen, is_depth(2)).await;

        full.store(true, Ordering::Relaxed);
        ready.wait_for(|ready| ready.is_err()).await.expect("a coordinator");
        let why = "the store cannot be written: database or disk is full";
        assert_eq!(*ready.borrow(), Err(why.to_owned()));
        let found = summary(&mut client, job).await;
        assert_eq!(found.state, JobState::Paused);
        let refused = accept(&mut client, &timed).await.expect_err("refused");
        assert_eq!((refused.code(), refused.message()), (Code::Unavailable, why));
        // Longer than the job's time: its clock stands still, nothing is searched, workers stay, the store is tried again.
        let tried = commits.load(Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(3_500)).await;
        let later = summary(&mut client, job).await;
        assert_eq!((later.state, later.nodes, later.elapsed), (JobState::Paused, found.nodes, found.elapsed));
        let tries = commits.load(Ordering::Relaxed) - tried;
        assert!((1..20).contains(&tries), "{tries} tries");

        full.store(false, Ordering::Relaxed);
        ready.wait_for(Result::is_ok).await.expect("a coordinator");
        read_until(&mut events, &mut seen, |_| false).await;
        let done = check(&seen);
        assert_eq!(done.stopped_by, StoppedBy::Time);
        assert!(
            done.elapsed >= Duration::from_secs(3) && done.elapsed < Duration::from_secs(5),
            "{:?}",
            done.elapsed
        );
        let states: Vec<_> = seen
            .iter()
            .filter_map(|record| match &record.event {
                JobEvent::State(change) => Some((change.state, change.reason.as_str())),
                _ => None,
            })
            .collect();
        assert!(states.contains(&(JobState::Paused, why)), "{states:?}");
        assert_eq!(states.last().map(|(state, _)| *state), Some(JobState::Running));
        coordinator.stop().await;
        // All of it is there.
        let kept = store(place).await.load().await.expect("readable");
        let events: Vec<EventRecord> = kept.jobs[0].events.iter().map(|record| (**record).clone()).collect();
        assert_eq!(events, seen);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_really_full_file_pauses_and_goes_on_when_there_is_room() {
    let ground = file();
    let place = &ground.place;
    let coordinator = durable(place).await;
    let job =
        accept(&mut analysis(&coordinator).await, &lasting(moves("e2 e8 e3"), 60)).await.expect("accepted");
    coordinator.stop().await;
    // Room for what is there, and for a few depths.
    let pages = std::fs::metadata(place.to_string()).unwrap().len() / 4_096 + 4;
    let small = store(place).await.with_pages(pages.try_into().unwrap());
    let coordinator = serve(ANY_PORT, small).await;
    let mut ready = coordinator.readiness();
    let _worker = worker(&coordinator, "a").await;
    let mut client = analysis(&coordinator).await;
    let mut events = watch(&mut client, job, 0).await.expect("a stream");
    let mut seen = Vec::new();
    let full = ready.wait_for(|ready| ready.is_err());
    tokio::time::timeout(LONG, full).await.expect("in time").expect("a coordinator");
    assert_eq!(summary(&mut client, job).await.state, JobState::Paused);
    // The rest is for a coordinator with more room.
    coordinator.stop().await;
    read_until(&mut events, &mut seen, |_| false).await;
    let coordinator = durable(place).await;
    let _worker = worker(&coordinator, "a").await;
    let mut client = self::analysis(&coordinator).await;
    let found = summary(&mut client, job).await;
    assert!(found.last_seq >= seen.last().unwrap().seq, "what was told is durable");
    let mut events = watch(&mut client, job, seen.last().unwrap().seq).await.expect("a stream");
    read_until(&mut events, &mut seen, is_depth(found.depth + 1)).await;
    client.cancel(v1::CancelRequest { job }).await.expect("cancelled");
    read_until(&mut events, &mut seen, |_| false).await;
    assert!(check(&seen).depth > found.depth);
    coordinator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_store_delays_nobody_but_watchers() {
    /// Each commit takes so long.
    struct Slow(DatabaseStore);
    const COMMIT: Duration = Duration::from_millis(300);
    impl Store for Slow {
        fn load(&mut self) -> futures_util::future::BoxFuture<'_, Result<Kept, StoreError>> {
            self.0.load()
        }
        fn commit<'a>(
            &'a mut self,
            batch: &'a [Keep],
        ) -> futures_util::future::BoxFuture<'a, Result<(), StoreError>> {
            Box::pin(async move {
                tokio::time::sleep(COMMIT).await;
                self.0.commit(batch).await
            })
        }
        fn reader(&self) -> Arc<dyn BookReader> {
            self.0.reader()
        }
        fn close(self: Box<Self>) -> futures_util::future::BoxFuture<'static, ()> {
            Box::new(self.0).close()
        }
    }
    for ground in grounds() {
        let place = &ground.place;
        let coordinator = serve(ANY_PORT, Slow(store(place).await)).await;
        let _worker = worker(&coordinator, "a").await;
        let mut client = analysis(&coordinator).await;
        let started = Instant::now();
        let job = accept(&mut client, &lasting(moves("e2 e8"), 60)).await.expect("accepted");
        assert!(started.elapsed() >= COMMIT, "a number that is told is durable");
        // Other questions are answered at once, and the search does not wait for what may be told.
        let asked = Instant::now();
        client.workers(v1::WorkersRequest {}).await.expect("workers");
        assert!(asked.elapsed() < COMMIT, "{:?}", asked.elapsed());
        let mut seen = Vec::new();
        let mut events = watch(&mut client, job, 0).await.expect("a stream");
        read_until(&mut events, &mut seen, is_depth(1)).await;
        let ahead = summary(&mut client, job).await;
        assert!(ahead.depth > 1 && ahead.last_seq > seen.last().unwrap().seq, "{ahead:?}");
        client.cancel(v1::CancelRequest { job }).await.expect("cancelled");
        read_until(&mut events, &mut seen, |_| false).await;
        check(&seen);
        coordinator.stop().await;
    }
}
