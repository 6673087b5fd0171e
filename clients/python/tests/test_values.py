"""What needs no server: scores, addresses, events of another version, and that the generated code is current."""

from __future__ import annotations

import filecmp
import os
import random
from concurrent import futures
from pathlib import Path
from typing import Any, cast

import grpc
import pytest

import corridor
import generate
from corridor import _transport, events, wire
from corridor._proto import analysis_pb2, book_types_pb2, types_pb2

HERE = Path(__file__).resolve().parent.parent


def test_scores_compare_as_white_sees_them() -> None:
    order = [
        corridor.Score(black_wins_in=1),
        corridor.Score(black_wins_in=9),
        corridor.Score(cm=-30_000),
        corridor.Score(cm=0),
        corridor.Score(cm=120),
        corridor.Score(white_wins_in=16),
        corridor.Score(white_wins_in=0),
    ]
    mixed = list(order)
    random.Random(1).shuffle(mixed)
    assert sorted(mixed) == order
    assert sorted((score.for_side("black") for score in mixed), reverse=True) == [it.for_side("black") for it in order]


def test_a_score_says_what_it_is() -> None:
    win = corridor.Score(black_wins_in=16)
    assert (str(win), win.winner, win.plies, win.squares) == ("Black wins in 16", "black", 16, float("-inf"))
    assert win.for_side("black") == corridor.Score(white_wins_in=16)
    cm = corridor.Score(cm=-120)
    assert (str(cm), cm.winner, cm.squares, cm.as_json()) == ("-1.20", None, -1.2, {"cm": -120})
    for fields in ({}, {"cm": 1, "white_wins_in": 2}):
        with pytest.raises(ValueError, match="exactly one"):
            corridor.Score(**fields)
    with pytest.raises(ValueError, match="'red'"):
        cm.for_side("red")


def test_what_a_later_version_says_does_no_harm() -> None:
    # Field 99, a message: what a kind of event would be that is not known here.
    unknown = analysis_pb2.Event.FromString(analysis_pb2.Event(seq=7).SerializeToString() + b"\x9a\x06\x02\x08\x01")
    event = events.read_event(unknown)
    assert isinstance(event, corridor.Unknown) and (event.seq, event.is_last) == (7, False)
    state = analysis_pb2.Event(seq=1)
    state.state.SetInParent()
    state = analysis_pb2.Event.FromString(state.SerializeToString()[:-2] + b"\x22\x02\x08\x2a")
    assert events.read_event(state) == corridor.State(1, "unknown_42", "")
    assert events.read_score(types_pb2.ScoreWhite()) is None


def test_every_kind_of_event_is_read() -> None:
    kinds = [field.name for field in analysis_pb2.Event.DESCRIPTOR.oneofs_by_name["kind"].fields]
    assert sorted(events._READERS) == sorted(kinds)
    for kind in kinds:
        message = analysis_pb2.Event(seq=3)
        getattr(message, kind).SetInParent()
        event = events.read_event(message)
        assert event.seq == 3 and event.is_last == (kind in ("done", "error", "book_done")), kind
    assert isinstance(events.read_node(book_types_pb2.BookNode()), corridor.BookNode)


def test_addresses() -> None:
    read = _transport.read_addresses
    assert read("127.0.0.1:4242,http://a:1/, https://[::1]:2") == [
        ("127.0.0.1:4242", False),
        ("a:1", False),
        ("[::1]:2", True),
    ]
    wrong: Any
    for wrong in ("a", "ftp://a:1", "a:0", "a:65536", "http://a:1/path", "", []):
        with pytest.raises(ValueError, match="coordinator"):
            read(wrong)


def test_the_usual_address_is_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CORRIDOR_COORDINATOR", raising=False)
    assert _transport.read_addresses(None) == [("127.0.0.1:4242", False)]
    monkeypatch.setenv("CORRIDOR_COORDINATOR", "http://b:7")
    assert _transport.read_addresses(None) == [("b:7", False)]


def test_pauses_grow_and_are_never_the_same() -> None:
    for attempt, longest in enumerate([0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0]):
        pauses = {_transport.backoff(attempt) for _ in range(100)}
        assert len(pauses) > 90 and longest / 2 <= min(pauses) <= max(pauses) <= longest


def test_times_are_rounded_up() -> None:
    assert [wire.millis_of(it) for it in (None, 0.0, 0.0001, 0.25, 1.5)] == [None, 0, 1, 250, 1500]


def test_errors_have_a_field_if_they_name_one() -> None:
    for message, field, fault in [
        ("spec.limits.depth: is wrong", "spec.limits.depth", "is wrong"),
        ("moves[3].text: no: not so", "moves[3].text", "no: not so"),
        ("Something else: no field", None, "Something else: no field"),
    ]:
        error = corridor.InvalidArgument(message)
        assert (error.field, error.fault, str(error)) == (field, fault, message)


def test_the_generated_code_is_current(tmp_path: Path) -> None:
    generate.generate(tmp_path)
    committed = HERE / "corridor" / "_proto"
    names = sorted(path.name for path in committed.iterdir() if path.is_file())
    assert names == sorted(os.listdir(tmp_path))
    _, differing, missing = filecmp.cmpfiles(committed, tmp_path, names, shallow=False)
    assert (differing, missing) == ([], []), "run clients/python/generate.py"


class Fake:
    """A coordinator that says what a test wants, and notes what it is asked."""

    def __init__(self, answers: dict[str, list[Any]]) -> None:
        """Answers of a method, one a call: messages, after them a code if it is to fail."""
        self.asked: list[tuple[str, Any, dict[str, Any]]] = []
        self._answers = answers
        self._server = grpc.server(futures.ThreadPoolExecutor(4))
        self._server.add_generic_rpc_handlers(cast(Any, (self,)))
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"

    def __enter__(self) -> Fake:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop(None).wait()

    def service(self, details: Any) -> Any:
        method = details.method.rsplit("/", 1)[1]
        if method == "Check":
            return None
        metadata = dict(details.invocation_metadata)

        def stream(request: bytes, context: Any) -> Any:
            self.asked.append((method, request, metadata))
            for answer in self._answers[method].pop(0):
                if isinstance(answer, grpc.StatusCode):
                    context.abort(answer, "as the test wants it")
                yield answer.SerializeToString()

        def one(request: bytes, context: Any) -> bytes:
            return bytes(next(stream(request, context)))

        if method in ("Analyze", "Watch", "Export"):
            return grpc.unary_stream_rpc_method_handler(stream)
        return grpc.unary_unary_rpc_method_handler(one)


def event_message(seq: int, kind: str = "", message_text: str = "") -> analysis_pb2.WatchResponse:
    message = analysis_pb2.WatchResponse(event=analysis_pb2.Event(seq=seq))
    if kind:
        getattr(message.event, kind).SetInParent()
    if kind == "accepted":
        message.event.accepted.job = 5
    if kind == "error":
        message.event.error.message = message_text
    return message


@pytest.mark.parametrize("code", [grpc.StatusCode.ABORTED, grpc.StatusCode.UNAVAILABLE, None])
def test_a_stream_that_breaks_is_taken_up_at_its_last_event(code: Any) -> None:
    broken = [event_message(1, "accepted"), event_message(2, "state"), *([code] if code else [])]
    rest = [event_message(2, "state"), event_message(3, "done")]
    get = [[analysis_pb2.GetResponse(summary=analysis_pb2.JobSummary(state=types_pb2.JOB_STATE_RUNNING))]]
    with Fake({"Analyze": [broken], "Watch": [rest], "Get": get}) as fake, corridor.Client(fake.address) as client:
        assert [event.seq for event in client.analyze("", depth=1)] == [1, 2, 3]
        watched = [analysis_pb2.WatchRequest.FromString(asked) for method, asked, _ in fake.asked if method == "Watch"]
    assert watched == [analysis_pb2.WatchRequest(job=5, after_seq=1)], "the last one once more"


def test_a_job_that_was_not_accepted_is_not_handed_in_twice() -> None:
    with Fake({"Analyze": [[grpc.StatusCode.UNAVAILABLE]]}) as fake, corridor.Client(fake.address) as client:
        with pytest.raises(corridor.Unavailable):
            client.analyze("", depth=1)
        assert [method for method, _, _ in fake.asked] == ["Analyze"]


def test_a_submission_is_made_once_and_a_question_again() -> None:
    later = [grpc.StatusCode.UNAVAILABLE]
    answers: dict[str, list[Any]] = {"Submit": [later], "List": [later, later, [analysis_pb2.ListResponse()]]}
    with Fake(answers) as fake, corridor.Client(fake.address, token="secret") as client:
        with pytest.raises(corridor.Unavailable):
            client.submit("", depth=1)
        assert client.jobs() == []
        assert [method for method, _, _ in fake.asked] == ["Submit", "List", "List", "List"]
        assert all(metadata["authorization"] == "Bearer secret" for _, _, metadata in fake.asked)


def test_an_answer_may_be_larger_than_the_usual_4_mib() -> None:
    long = analysis_pb2.JobSummary(job=2, reason="x" * (6 << 20))
    answers: dict[str, list[Any]] = {
        "List": [[analysis_pb2.ListResponse(jobs=[long])], [analysis_pb2.ListResponse()]],
        "Watch": [[event_message(1, "accepted"), event_message(2, "error", "x" * (6 << 20))]],
    }
    with Fake(answers) as fake, corridor.Client(fake.address) as client:
        assert [len(summary.reason) for summary in client.jobs()] == [6 << 20]
        last = list(client.watch(5))[-1]
        assert isinstance(last, corridor.Error) and len(last.message) == 6 << 20


def test_an_unknown_last_event_ends_a_stream() -> None:
    ended = analysis_pb2.JobSummary(state=types_pb2.JOB_STATE_DONE, last_seq=2)
    answers: dict[str, list[Any]] = {
        "Watch": [[event_message(1, "accepted"), event_message(2)]],
        "Get": [[analysis_pb2.GetResponse(summary=ended)]],
    }
    with Fake(answers) as fake, corridor.Client(fake.address) as client:
        assert [type(event).__name__ for event in client.watch(5)] == ["Accepted", "Unknown"]


def test_a_gap_is_never_passed_on() -> None:
    with (
        Fake({"Watch": [[event_message(1, "accepted"), event_message(3, "state")]]}) as fake,
        corridor.Client(fake.address) as client,
        pytest.raises(corridor.CorridorError, match="event 3 comes after 1"),
    ):
        list(client.watch(5))


def test_a_failed_job_is_an_event_and_a_failed_result() -> None:
    failed = event_message(2, "error")
    failed.event.error.code, failed.event.error.message = "deadline_exceeded", "too late"
    story = [event_message(1, "accepted"), failed]
    with Fake({"Watch": [story, story]}) as fake, corridor.Client(fake.address) as client:
        assert list(client.watch(5))[-1] == corridor.Error(2, "deadline_exceeded", "too late")
        with pytest.raises(corridor.JobFailed, match="too late") as error:
            client.watch(5).result()
    assert error.value.code == "deadline_exceeded"


def test_an_export_that_breaks_goes_on_behind_its_last_position() -> None:
    from corridor._proto import book_pb2

    def part(*keys: str) -> book_pb2.ExportResponse:
        return book_pb2.ExportResponse(nodes=[book_types_pb2.BookNode(key=key) for key in keys])

    answers: dict[str, list[Any]] = {
        "Export": [[part("1", "2"), grpc.StatusCode.UNAVAILABLE], [part("3")], [part("1"), part("1")]]
    }
    with Fake(answers) as fake, corridor.Client(fake.address) as client:
        assert [node.key for node in client.book("b").export()] == ["1", "2", "3"]
        cursors = [book_pb2.ExportRequest.FromString(asked).after_key for _, asked, _ in fake.asked]
        assert cursors == ["", "2"]
        with pytest.raises(corridor.CorridorError, match="key 1 comes after 1"):
            list(client.book("b").export())
