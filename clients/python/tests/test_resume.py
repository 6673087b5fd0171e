"""Coordinators that die: what a caller sees of it."""

from __future__ import annotations

import signal
from pathlib import Path

import conftest
import pytest

import corridor

MOVES = "e2 e8 e3 e7 e4 e6"


@pytest.mark.parametrize("kind", ["analyze", "watch"])
def test_a_killed_coordinator_is_a_pause(tmp_path: Path, kind: str) -> None:
    store = tmp_path / "corridor.db"
    server = conftest.coordinator(store)
    address = server.address()
    worker = conftest.worker(address)
    try:
        with corridor.Client(address) as client:
            events = client.analyze(MOVES, depth=6, deterministic=True, detach=kind == "watch")
            if kind == "watch":
                job = events.job
                assert job is not None
                events.close()
                events = client.watch(job)
            seen: list[corridor.Event] = []
            kills = 0
            for event in events:
                seen.append(event)
                # In the middle of the third and of the fifth depth.
                at = isinstance(event, corridor.Iteration) and event.depth in (2, 4)
                if at and kills < 2:
                    server.end(signal.SIGKILL)
                    kills += 1
                    server = conftest.coordinator(store, address)
                    server.line("listening on")
        assert kills == 2
        assert [event.seq for event in seen] == list(range(1, len(seen) + 1)), "a gap or a repeat"
        done = seen[-1]
        assert isinstance(done, corridor.Done)
        asked = ["analyze", "--moves", MOVES, "--depth", "6", "--deterministic", "--workers", "1"]
        wanted = conftest.command_line(*asked)[-1]
        assert (done.best_move, done.nodes, list(done.pv)) == (wanted["best_move"], wanted["nodes"], wanted["pv"])
    finally:
        worker.end(signal.SIGKILL)
        server.end(signal.SIGKILL)


def test_a_books_job_goes_on_too(tmp_path: Path) -> None:
    store = tmp_path / "corridor.db"
    server = conftest.coordinator(store)
    address = server.address()
    worker = conftest.worker(address)
    try:
        with corridor.Client(address) as client:
            book = client.book("main")
            assert book.import_games(MOVES, notation="man").positions == 7
            seen: list[corridor.Event] = []
            for event in book.analyze(depth=4, deterministic=True):
                seen.append(event)
                if isinstance(event, corridor.BookPosition) and event.done == 3:
                    server.end(signal.SIGKILL)
                    server = conftest.coordinator(store, address)
                    server.line("listening on")
            assert [event.seq for event in seen] == list(range(1, len(seen) + 1)), "a gap or a repeat"
            done = seen[-1]
            assert isinstance(done, corridor.BookDone) and (done.searched, done.left) == (7, 0)
            nodes = [event.node for event in seen if isinstance(event, corridor.BookPosition)]
            assert len({node.key for node in nodes}) == 7
            assert {node.key: node.score for node in book.export()} == {node.key: node.score for node in nodes}
    finally:
        worker.end(signal.SIGKILL)
        server.end(signal.SIGKILL)


def test_a_coordinator_without_a_store_loses_its_job() -> None:
    server = conftest.coordinator(None)
    address = server.address()
    try:
        with corridor.Client(address) as client:
            events = client.analyze(MOVES, depth=6)
            assert next(events).seq == 1
            server.end(signal.SIGKILL)
            server = conftest.coordinator(None, address)
            server.line("listening on")
            with pytest.raises(corridor.JobGone, match="came back without it"):
                list(events)
            assert list(events) == []
    finally:
        server.end(signal.SIGKILL)


def test_another_job_of_the_same_number_is_not_taken_for_it() -> None:
    server = conftest.coordinator(None)
    address = server.address()
    try:
        with corridor.Client(address) as client:
            events = client.analyze(MOVES, depth=6)
            assert next(events).seq == 1
            server.end(signal.SIGKILL)
            server = conftest.coordinator(None, address)
            server.line("listening on")
            # Nobody works on it, but it ends, so that whoever takes it for the first one comes to an end too.
            assert client.submit("e2", time=0.1) == events.job
            with pytest.raises(corridor.JobGone):
                list(events)
    finally:
        server.end(signal.SIGKILL)


def test_a_dead_address_is_no_error_while_another_one_lives(address: str) -> None:
    dead = conftest.coordinator(None)
    there = dead.address()
    dead.end(signal.SIGKILL)
    with corridor.Client([there, f"http://{address}"]) as client:
        assert len(client.workers()) == 1
    with corridor.Client(f"{there},{there}", timeout=0.3) as client, pytest.raises(corridor.Unavailable, match=there):
        client.jobs()


def test_a_line_that_stays_broken_is_given_up() -> None:
    server = conftest.coordinator(None)
    with corridor.Client(server.address(), timeout=0.3, resume_for=0.5) as client:
        events = client.analyze(MOVES, depth=6)
        server.end(signal.SIGKILL)
        with pytest.raises(corridor.Unavailable):
            list(events)
