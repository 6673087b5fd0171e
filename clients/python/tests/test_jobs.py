"""Jobs on a real cluster."""

from __future__ import annotations

import dataclasses
from typing import Any

import conftest
import pytest

import corridor

MOVES = "e2 e8 e3 e7 e4 e6"
#: More than can be done while a test looks on.
DEEP: dict[str, Any] = {"depth": 60, "time": 600.0}


def as_json(line: corridor.Line) -> dict[str, Any]:
    fields = dataclasses.asdict(line)
    del fields["score"]
    assert line.score is not None
    return {**fields, "score_white": line.score.as_json(), "pv": list(line.pv)}


def test_a_deterministic_answer_is_the_command_lines(address: str) -> None:
    asked = ["analyze", "--moves", MOVES, "--depth", "5", "--multipv", "3", "--deterministic", "--workers", "1"]
    wanted = conftest.command_line(*asked)
    events = list(corridor.analyze(MOVES, depth=5, multipv=3, deterministic=True, coordinator=address))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))

    accepted, done = events[0], events[-1]
    assert isinstance(accepted, corridor.Accepted)
    assert (accepted.position, accepted.turn) == (wanted[0]["position"], "white")
    for kind in ("kept", "pruned"):
        assert [dataclasses.asdict(it) for it in getattr(accepted, kind)] == wanted[0][kind]

    assert isinstance(done, corridor.Done)
    last = wanted[-1]
    assert last["event"] == "done" and len(last["lines"]) == 30
    assert [as_json(line) for line in done.lines] == last["lines"]
    assert done.score is not None and done.score.as_json() == last["score_white"]
    found = (done.best_move, done.depth, list(done.pv), done.nodes, done.stopped_by)
    assert found == tuple(last[name] for name in ("best_move", "depth", "pv", "nodes", "stopped_by"))

    heats = [event for event in events if isinstance(event, corridor.Heat)]
    assert [(it.move, list(it.cat_display), list(it.cat_search)) for it in heats] == [
        (it["move"], it["cat_display"], it["cat_search"]) for it in wanted if it["event"] == "heat"
    ]
    depths = [event for event in events if isinstance(event, corridor.Iteration)]
    assert [(it.depth, it.best_move, it.nodes) for it in depths] == [
        (it["depth"], it["best_move"], it["nodes"]) for it in wanted if it["event"] == "iteration"
    ]


def test_an_audit_says_of_each_pruned_move_whether_it_was_missed(client: corridor.Client) -> None:
    events = list(client.analyze("e2 e8", depth=2, prune="audit", fresh=True))
    accepted = events[0]
    assert isinstance(accepted, corridor.Accepted)
    audits = [event for event in events if isinstance(event, corridor.Audit)]
    assert {it.move: it.reason for it in audits} == {it.move: it.reason for it in accepted.pruned} != {}
    assert all(it.score is not None for it in audits)


def test_a_proven_win_has_its_distance(client: corridor.Client) -> None:
    done = client.analyze("/ / e8 a2 / 0 0 / 1", depth=3).result()
    assert isinstance(done, corridor.Done)
    assert (done.best_move, done.score) == ("e9", corridor.Score(white_wins_in=1))


def test_watch_goes_on_from_a_cursor(client: corridor.Client) -> None:
    job = client.submit(MOVES, depth=4, deterministic=True, fresh=True)
    events = list(client.watch(job))
    assert isinstance(events[-1], corridor.Done)
    for after in (1, len(events) // 2, len(events) - 1):
        assert list(client.watch(job, after=after)) == events[after:]
    assert list(client.watch(job, after=len(events))) == [], "nothing follows the last one"
    beyond = client.watch(job, after=len(events) + 1)
    with pytest.raises(corridor.InvalidArgument) as refused:
        next(beyond)
    assert refused.value.field == "after_seq"


def test_closing_cancels_ones_own_job_only(client: corridor.Client) -> None:
    with client.analyze(MOVES, fresh=True, **DEEP) as events:
        job = events.job
        assert job is not None and client.job(job).state in ("queued", "running")
        with client.watch(job) as watched:
            assert next(watched).seq == 1
        assert client.job(job).state in ("queued", "running"), "who only looks leaves it alone"
    assert client.job(job).state == "done"
    last = list(client.watch(job))[-1]
    assert isinstance(last, corridor.Done) and last.stopped_by == "cancel"
    with pytest.raises(StopIteration):
        next(events)


def test_a_closed_client_ends_its_streams(address: str, client: corridor.Client) -> None:
    mine = corridor.Client(address)
    events = mine.analyze(MOVES, detach=True, fresh=True, **DEEP)
    assert events.job is not None
    mine.close()
    for ask in (lambda: list(events), mine.jobs, lambda: mine.submit("e2")):
        with pytest.raises(corridor.CorridorError, match="the client was closed"):
            ask()
    client.cancel(events.job)


def test_break_cancels_too(address: str, client: corridor.Client) -> None:
    for event in corridor.analyze(MOVES, coordinator=address, fresh=True, **DEEP):
        if isinstance(event, corridor.Accepted):
            job = event.job
            break
    last = list(client.watch(job))[-1]
    assert isinstance(last, corridor.Done) and last.stopped_by == "cancel"


def test_a_detached_job_goes_on(client: corridor.Client) -> None:
    events = client.analyze(MOVES, detach=True, fresh=True, **DEEP)
    job = events.job
    assert job is not None
    events.close()
    assert client.job(job).state in ("queued", "running")
    client.pause(job)
    assert client.job(job).state == "paused"
    client.resume(job)
    assert client.job(job).state in ("queued", "running", "waiting")
    assert [summary.job for summary in client.jobs(limit=1)] == [job]
    client.cancel(job)
    summary = client.job(job)
    assert (summary.state, summary.limits) == ("done", corridor.Limits(60, 600_000, None))
    client.cancel(job)
    with pytest.raises(corridor.FailedPrecondition, match="has ended"):
        client.pause(job)


def test_jobs_are_newest_first_over_pages(client: corridor.Client) -> None:
    made = [client.submit("e2", depth=1) for _ in range(3)]
    numbers = [summary.job for summary in client.jobs()]
    assert numbers == list(range(made[-1], 0, -1))
    assert [summary.job for summary in client.jobs(limit=2)] == numbers[:2]
    [worker] = client.workers()
    assert (worker.slots, worker.draining) == (1, False)


@pytest.mark.parametrize(
    ("position", "options", "field", "fault"),
    [
        ("e2 e8 e9", {"depth": 1}, "spec.position.moves.text", "ply 3"),
        ("/ / e1 e9 / 10 / 1", {"depth": 1}, "spec.position.position", ""),
        ("e2", {"depth": 101}, "spec.limits.depth", "max_depth 100"),
        ("e2", {"depth": 0}, "spec.limits.depth", "at least 1"),
        ("e2", {"time": 0.0}, "spec.limits.time_ms", "at least 1"),
        ("e2", {"depth": 1, "multipv": 137}, "spec.multipv", "max_multipv 136"),
        ("e2 x", {"depth": 1}, "spec.position.moves.text", "ply 2"),
    ],
)
def test_bad_input_names_its_field(
    client: corridor.Client, position: str, options: dict[str, Any], field: str, fault: str
) -> None:
    for ask in (client.analyze, client.submit):
        with pytest.raises(corridor.InvalidArgument) as refused:
            ask(position, **options)
        assert (refused.value.field, refused.value.code) == (field, "invalid_argument")
        assert fault in refused.value.fault


def test_what_cannot_be_asked_is_not(client: corridor.Client) -> None:
    with pytest.raises(ValueError, match="notation: 'xy' is none of man, nw"):
        client.analyze("e2", notation="xy")
    with pytest.raises(ValueError, match="prune: 'all' is none of cat, none, audit"):
        client.submit("e2", prune="all")
    with pytest.raises(ValueError, match="time: nan"):
        client.submit("e2", time=float("nan"))


def test_a_job_that_is_not_there(client: corridor.Client) -> None:
    for ask in (client.job, client.cancel, client.pause, client.resume):
        with pytest.raises(corridor.NotFound, match="there is no job 999999"):
            ask(999_999)
    with pytest.raises(corridor.NotFound):
        next(client.watch(999_999))


def test_positions(client: corridor.Client) -> None:
    assert len(client.legal_moves("")) == 131
    assert client.convert("e2 e8 e3h", notation="man", to="nw") == "e2 e8 e4h"
    heat = client.heat("e2 e8")
    [wanted] = conftest.command_line("heat", "--moves", "e2 e8")
    assert (heat.position, heat.white_distance, heat.black_distance) == (wanted["position"], 7, 7)
    assert (list(heat.cat_display), list(heat.cat_search)) == (wanted["cat_display"], wanted["cat_search"])
    assert list(heat.white_witness) == wanted["witness"]["white"]
    walls = {it.wall: dataclasses.asdict(it) for it in heat.walls}
    assert {name: {k: v for k, v in it.items() if k != "wall"} for name, it in walls.items()} == wanted["walls"]
