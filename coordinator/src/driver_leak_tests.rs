//! Calls that are dropped at every one of their awaits: nothing of them stays in the driver or in the cluster.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use corridor_shared::job::ENGINE_EPOCH;

use super::*;

fn job(depth: u8) -> JobSpec {
    JobSpec::new(corridor_shared::Position::start()).to_depth(depth)
}

fn registration() -> Registration {
    Registration {
        name: "w".to_owned(),
        instance: 1,
        engine_epoch: ENGINE_EPOCH.to_owned(),
        slots: 2,
        table_bytes: 0,
    }
}

/// Takes everything from the mailbox.
fn pump(driver: &mut Driver) {
    while let Ok(message) = driver.messages.try_recv() {
        driver.take(message);
    }
}

/// Lets a call go on for so many turns, the driver one after each, and drops it then. Whether it was over by itself.
fn cut_short<T>(driver: &mut Driver, turns: usize, call: impl Future<Output = T>) -> bool {
    let mut call = pin!(call);
    for _ in 0..turns {
        if let Poll::Ready(answer) = call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            drop(answer);
            return true;
        }
        pump(driver);
    }
    false
}

/// Nothing is left but jobs.
#[track_caller]
fn assert_clean(driver: &mut Driver, what: &str) {
    pump(driver);
    // Twice: what the first one takes away may leave something to the second.
    driver.sweep();
    driver.sweep();
    let left = (driver.watchers.len(), driver.tickets.len(), driver.outboxes.len());
    assert_eq!(left, (0, 0, 0), "{what}: watchers, tickets, outboxes");
    let [watchers, workers, leases, failures, _] = driver.cluster.holds();
    assert_eq!([watchers, workers, leases, failures], [0; 4], "{what}: watchers, workers, leases, failures");
}

#[tokio::test(start_paused = true)]
async fn calls_that_are_dropped_at_any_await_leave_nothing() {
    let (mut driver, handle) = new(Config::default());
    for turns in 0..4 {
        let over = cut_short(&mut driver, turns, handle.analyze(job(3), None));
        assert_clean(&mut driver, &format!("analyze, {turns} turns, over: {over}"));
        let over = cut_short(&mut driver, turns, handle.watch(JobId(1), 0));
        assert_clean(&mut driver, &format!("watch, {turns} turns, over: {over}"));
        let over = cut_short(&mut driver, turns, handle.watch(JobId(9_999), 0));
        assert_clean(&mut driver, &format!("watch nothing, {turns} turns, over: {over}"));
        let over = cut_short(&mut driver, turns, handle.ask(Question::Workers));
        assert_clean(&mut driver, &format!("ask, {turns} turns, over: {over}"));
        let over = cut_short(&mut driver, turns, handle.register(registration()));
        assert_clean(&mut driver, &format!("register, {turns} turns, over: {over}"));
    }
    // All of them came to an end when they were given the time.
    assert!(cut_short(&mut driver, 4, handle.ask(Question::Workers)));
    let submitted = pump_answer(&mut driver, &handle, Question::List { limit: 100, before: None });
    let Ok(Answer::Jobs(jobs)) = submitted else { panic!("{submitted:?}") };
    assert!(!jobs.is_empty(), "none of the jobs was accepted");
    // Nobody watches them: half a minute later they are over.
    tokio::time::advance(Duration::from_secs(31)).await;
    driver.step(Event::Tick);
    assert_eq!(driver.cluster.next_wake(), None, "something is still to be done");
    // A worker that leaves with a unit counts as dead for as long as the unit's job lives.
    assert_eq!(driver.cluster.holds(), [0; 5], "watchers, workers, leases, failures, deaths");
}

fn pump_answer(driver: &mut Driver, handle: &Handle, question: Question) -> Result<Answer, AskError> {
    let mut call = pin!(handle.ask(question));
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(answer) = call.as_mut().poll(&mut context) {
            return answer;
        }
        pump(driver);
    }
}
