"""A cluster's jobs and positions."""

from __future__ import annotations

import contextlib
import sys
import time as clock
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Callable, Optional, Union

import grpc

from corridor._proto import analysis_pb2, book_pb2, positions_pb2, types_pb2
from corridor._transport import ANSWER_TIME, RESUME_TIME, Addresses, Call, Transport, backoff, is_broken_line
from corridor.book import Book, BookInfo
from corridor.errors import CorridorError, InvalidArgument, JobFailed, JobGone, NotFound, Unavailable
from corridor.events import (
    BookDone,
    Done,
    Error,
    Event,
    HeatMap,
    JobSummary,
    Worker,
    read_event,
    read_heat,
    read_job,
    read_worker,
)
from corridor.wire import limits_of, notation_of, position_of, prune_of

#: How long the end of a stream waits for its job to be cancelled, in seconds.
CANCEL_TIME = 2.0
#: A stream that held for so long, in seconds, was taken up again with success.
_HELD = 5.0

#: A position's text ("/ / e1 e9 / 10 10 / 1"), or the moves that lead to it ("e2 e8 e3"); "" is the start.
Position = str
Opener = Callable[[], Call[Any]]


class Events(Iterator[Event]):
    """A job's events, up to the last one. A line that breaks is taken up again where it broke: nobody notices but by a pause.

    It is an iterator and a context manager. A job of one's own that was not detached is cancelled when it is closed early.
    """

    def __init__(
        self,
        transport: Transport,
        opener: Opener,
        job: Optional[int] = None,
        after: int = 0,
        cancels: bool = False,
        again: bool = False,
        resume_for: float = RESUME_TIME,
        owned: Optional[Client] = None,
    ) -> None:
        """Opens the stream. What it is for is said by `Client`'s methods, which make these."""
        self._job = job
        self._after = after
        self._transport = transport
        self._cancels = cancels
        self._again = again
        self._opener = opener
        self._resume_for = resume_for
        self._owned = owned
        self._last: Optional[analysis_pb2.Event] = None
        self._waiting: list[Event] = []
        self._ended = False
        self._closed = False
        self._patience: Optional[float] = None
        self._attempt = 0
        self._opened = clock.monotonic()
        self._call: Call[Any] = opener()

    @property
    def job(self) -> Optional[int]:
        """The job's number."""
        return self._job

    @property
    def seq(self) -> int:
        """Number of the latest event that was read: a cursor for `Client.watch`."""
        return self._last.seq if self._last is not None else self._after

    def result(self) -> Union[Done, BookDone]:
        """Reads to the end and returns the last event.

        Raises:
            JobFailed: the job ended with an error.
            CorridorError: the stream broke for good, or was closed.
        """
        for event in self:
            if isinstance(event, (Done, BookDone)):
                return event
            if isinstance(event, Error):
                raise JobFailed(event.message, event.code)
        raise CorridorError("the stream of events was closed, or was read to its end before", "cancelled")

    def close(self) -> None:
        """Ends the stream, and cancels the job if it is one's own, still open, and not detached. May be called twice."""
        if self._ended or self._closed:
            return
        self._closed = True
        self._waiting.clear()
        self._call.cancel()
        if self._cancels and self._job is not None:
            request = analysis_pb2.CancelRequest(job=self._job)
            # Otherwise it ends by itself, 30 s after its last watcher has left.
            with contextlib.suppress(CorridorError, ValueError):
                self._transport.ask("Analysis/Cancel", request, analysis_pb2.CancelResponse, CANCEL_TIME)
        self._leave()

    def _leave(self) -> None:
        if self._owned is not None:
            self._owned.close()

    def __enter__(self) -> Events:
        """Itself."""
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        """Closes it."""
        self.close()

    def __del__(self) -> None:
        """Closes what was left in the middle, such as by `break`."""
        if hasattr(self, "_call") and not sys.is_finalizing():
            self.close()

    def __iter__(self) -> Events:
        """Itself."""
        return self

    def __next__(self) -> Event:
        """The next event.

        Raises:
            StopIteration: there are no more, or it was closed.
            CorridorError: the job is not to be had, or the line is broken for good.
        """
        if self._waiting:
            return self._waiting.pop(0)
        while not self._ended and not self._closed:
            wire = self._receive()
            if wire is None or self._is_repeat(wire):
                continue
            self._last = wire
            event = read_event(wire)
            if event.is_last:
                self._end()
            return event
        raise StopIteration

    def prime(self) -> Events:
        """Waits for the first event, which is read again, so that a refusal is known and the job has a number."""
        self._waiting.append(next(self))
        return self

    def _end(self) -> None:
        self._ended = True
        self._leave()

    def _receive(self) -> Optional[analysis_pb2.Event]:
        """The next message; None if there was none and it is worth looking again."""
        try:
            message = next(self._call)
        except StopIteration:
            if not self._has_ended():
                self._take_up(Unavailable(f"{self._transport.address} closed the stream before the last event"), None)
            return None
        except grpc.RpcError as error:
            if not self._closed:
                self._fail(error)
            return None
        self._patience, self._attempt = None, 0
        wire: analysis_pb2.Event = message.event
        kind = wire.WhichOneof("kind")
        if kind in ("accepted", "book_accepted"):
            self._job = getattr(wire, kind).job
        return wire

    def _fail(self, error: grpc.RpcError) -> None:
        failure = self._transport.failure(error)
        if is_broken_line(error):
            self._take_up(failure, error)
            return
        self._end()
        if self._last is not None and isinstance(failure, (NotFound, InvalidArgument)):
            raise JobGone(f"the job is gone: the coordinator came back without it: {failure.message}") from error
        raise failure from error

    def _is_repeat(self, wire: analysis_pb2.Event) -> bool:
        """Whether it is the last event once more, which was asked for to see that this is still the same job."""
        if self._last is None or wire.seq == self._last.seq + 1:
            return False
        if wire == self._last:
            return True
        self._call.cancel()
        self._end()
        if wire.seq <= self._last.seq:
            raise JobGone("the job is gone: the coordinator came back without it")
        raise CorridorError(f"event {wire.seq} comes after {self._last.seq}", "internal")

    def _has_ended(self) -> bool:
        """Whether nothing follows: the cursor was the last event, or that was of a kind which a later version has added."""
        if self._job is None or not self.seq:
            return False
        request = analysis_pb2.GetRequest(job=self._job)
        try:
            summary = self._transport.ask("Analysis/Get", request, analysis_pb2.GetResponse).summary
        except CorridorError:
            return False
        is_over = summary.state in (types_pb2.JOB_STATE_DONE, types_pb2.JOB_STATE_FAILED)
        if is_over and summary.last_seq == self.seq:
            self._end()
        return self._ended

    def _take_up(self, failure: CorridorError, cause: Optional[BaseException]) -> None:
        """Opens the stream again behind the last event, or gives up."""
        if self._job is None and not self._again:
            self._end()
            raise failure from cause
        if clock.monotonic() - self._opened > _HELD:
            self._patience, self._attempt = None, 0
        if self._patience is None:
            self._patience = clock.monotonic() + self._resume_for
        self._transport.fail()
        while not self._closed:
            pause = backoff(self._attempt)
            self._attempt += 1
            if clock.monotonic() + pause > self._patience:
                self._end()
                raise failure from cause
            clock.sleep(pause)
            with contextlib.suppress(Unavailable):
                self._call = self._open_again()
                self._opened = clock.monotonic()
                return

    def _open_again(self) -> Call[Any]:
        if self._job is None:
            return self._opener()
        after = self._last.seq - 1 if self._last is not None else self._after
        request = analysis_pb2.WatchRequest(job=self._job, after_seq=after)
        return self._transport.stream("Analysis/Watch", request, analysis_pb2.WatchResponse)


class Client:
    """A cluster's jobs, positions and books. It may be used from many threads, and is a context manager.

    Args:
        coordinator: `HOST:PORT` or `http://HOST:PORT`, several separated by commas or in a list: the first that answers is asked.
            Otherwise the variable `CORRIDOR_COORDINATOR`, or 127.0.0.1:4242.
        timeout: seconds that a question may take, with all its tries; streams may last for ever.
        resume_for: seconds for which a stream that broke is taken up again.
        credentials: for TLS with roots or certificates of one's own; `https://` alone takes the usual roots.
        token: a bearer token that goes with each question.

    Raises:
        ValueError: an address is none.
    """

    def __init__(
        self,
        coordinator: Addresses = None,
        *,
        timeout: float = ANSWER_TIME,
        resume_for: float = RESUME_TIME,
        credentials: Optional[grpc.ChannelCredentials] = None,
        token: Optional[str] = None,
    ) -> None:
        """A client that connects when something is asked."""
        self._transport = Transport(coordinator, credentials, token, timeout)
        self._resume_for = resume_for

    def close(self) -> None:
        """Closes its connections."""
        self._transport.close()

    def __enter__(self) -> Client:
        """Itself."""
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        """Closes it."""
        self.close()

    def analyze(
        self,
        position: Position,
        *,
        depth: Optional[int] = None,
        time: Optional[float] = None,
        nodes: Optional[int] = None,
        multipv: int = 1,
        prune: str = "cat",
        deterministic: bool = False,
        priority: int = 0,
        detach: bool = False,
        fresh: bool = False,
        notation: str = "man",
        _owned: bool = False,
    ) -> Events:
        """Has a position analysed; returns its events as soon as the job is accepted. Without a limit it stops after 30 s.

        Args:
            position: moves from the start, or a position's text.
            depth: deepest iteration, in plies, 1 to 100.
            time: seconds from acceptance.
            nodes: positions visited by all workers together.
            multipv: how many lines get exact scores, 1 to 136.
            prune: which moves are searched: `cat`, `none` (all) or `audit` (`cat`, and the others are checked at the end).
            deterministic: the same scores, moves and node counts for any number of workers.
            priority: jobs of a higher one are served first.
            detach: the job goes on when the stream is closed; otherwise closing cancels it.
            fresh: search although a book has the answer.
            notation: how the moves are written: `man`, `nw`, `flip`, `prefix`, `qtp`, `tq1` or `qf`.

        Raises:
            InvalidArgument: a limit, or a move (`fault` names the ply), is not as it must be.
            Unavailable: no coordinator answers, or the line broke before the job had a number; then `jobs` tells whether it was accepted.
            CorridorError: another refusal.
            ValueError: an unknown `notation` or `prune`, a `time` or number that is out of any range.
        """
        spec = _spec(position, notation, depth, time, nodes, multipv, prune, deterministic, priority, detach)
        request = analysis_pb2.AnalyzeRequest(spec=spec, fresh=fresh)
        return Events(
            self._transport,
            lambda: self._transport.stream("Analysis/Analyze", request, analysis_pb2.AnalyzeResponse),
            cancels=not detach,
            resume_for=self._resume_for,
            owned=self if _owned else None,
        ).prime()

    def submit(
        self,
        position: Position,
        *,
        depth: Optional[int] = None,
        time: Optional[float] = None,
        nodes: Optional[int] = None,
        multipv: int = 1,
        prune: str = "cat",
        deterministic: bool = False,
        priority: int = 0,
        detach: bool = True,
        fresh: bool = False,
        notation: str = "man",
    ) -> int:
        """Hands in what `analyze` would, and returns the job's number. Nobody watches it, so it is detached unless told otherwise.

        Raises:
            CorridorError: as of `analyze`. It is asked only once: after `Unavailable` the job may have been accepted.
        """
        spec = _spec(position, notation, depth, time, nodes, multipv, prune, deterministic, priority, detach)
        request = analysis_pb2.SubmitRequest(spec=spec, fresh=fresh)
        return self._transport.ask("Analysis/Submit", request, analysis_pb2.SubmitResponse, once=True).job

    def watch(self, job: int, after: int = 0) -> Events:
        """A job's events behind the cursor `after`, the `seq` of the last one that is known. Closing leaves the job alone.

        What is wrong with job or cursor (`NotFound`, `InvalidArgument`) is raised when the first event is asked for.
        """
        request = analysis_pb2.WatchRequest(job=job, after_seq=after)
        return Events(
            self._transport,
            lambda: self._transport.stream("Analysis/Watch", request, analysis_pb2.WatchResponse),
            job=job,
            after=after,
            resume_for=self._resume_for,
        )

    def job(self, job: int) -> JobSummary:
        """Where a job stands.

        Raises:
            NotFound: there is no such job.
        """
        request = analysis_pb2.GetRequest(job=job)
        return read_job(self._transport.ask("Analysis/Get", request, analysis_pb2.GetResponse).summary)

    def jobs(self, limit: Optional[int] = None) -> list[JobSummary]:
        """Where all jobs stand, or the newest `limit`, newest first."""
        jobs: list[JobSummary] = []
        while limit is None or len(jobs) < limit:
            before = jobs[-1].job if jobs else 0
            request = analysis_pb2.ListRequest(limit=0 if limit is None else limit - len(jobs), before=before)
            page = self._transport.ask("Analysis/List", request, analysis_pb2.ListResponse).jobs
            # A coordinator that does not count down would keep us here for ever.
            if not page or (jobs and page[0].job >= before):
                break
            jobs.extend(read_job(summary) for summary in page)
        return jobs

    def cancel(self, job: int) -> None:
        """Ends a job with what is known; its `Done` still comes.

        Raises:
            NotFound: there is no such job.
        """
        request = analysis_pb2.CancelRequest(job=job)
        self._transport.ask("Analysis/Cancel", request, analysis_pb2.CancelResponse)

    def pause(self, job: int) -> None:
        """Holds a job.

        Raises:
            NotFound: there is no such job.
            FailedPrecondition: it has ended.
        """
        self._transport.ask("Analysis/Pause", analysis_pb2.PauseRequest(job=job), analysis_pb2.PauseResponse)

    def resume(self, job: int) -> None:
        """Lets a paused or parked job go on; raises as `pause`."""
        self._transport.ask("Analysis/Resume", analysis_pb2.ResumeRequest(job=job), analysis_pb2.ResumeResponse)

    def workers(self) -> list[Worker]:
        """The connected workers, in the order in which they registered."""
        answer = self._transport.ask("Analysis/Workers", analysis_pb2.WorkersRequest(), analysis_pb2.WorkersResponse)
        return [read_worker(worker) for worker in answer.workers]

    def heat(self, position: Position, *, notation: str = "man") -> HeatMap:
        """The Corridor Attention Table of a position, without a search.

        Raises:
            InvalidArgument: the position is none.
        """
        request = positions_pb2.HeatRequest(position=position_of(position, notation))
        return read_heat(self._transport.ask("Positions/Heat", request, positions_pb2.HeatResponse))

    def legal_moves(self, position: Position, *, notation: str = "man") -> list[str]:
        """The legal moves, pawn moves first; none when the game is over.

        Raises:
            InvalidArgument: the position is none.
        """
        request = positions_pb2.LegalMovesRequest(position=position_of(position, notation))
        answer = self._transport.ask("Positions/LegalMoves", request, positions_pb2.LegalMovesResponse)
        return [*answer.pawn_moves, *answer.walls]

    def convert(self, moves: str, *, notation: str, to: str) -> str:
        """Moves from one notation in another; neither has a default, because an anchor is never guessed.

        Raises:
            InvalidArgument: the moves do not read, are not legal, or cannot be said in that notation.
        """
        text = types_pb2.MoveText(text=moves, notation=notation_of(notation))
        request = positions_pb2.ConvertRequest(moves=text, to=notation_of(to))
        return self._transport.ask("Positions/Convert", request, positions_pb2.ConvertResponse).moves

    def book(self, name: str = "main") -> Book:
        """An opening book. Nothing is asked yet."""

        def job(opener: Opener, detach: bool) -> Events:
            opened = Events(self._transport, opener, cancels=not detach, again=True, resume_for=self._resume_for)
            return opened.prime()

        return Book(name, self._transport, job, self._resume_for)

    def books(self) -> list[BookInfo]:
        """The books, in the order of their names.

        Raises:
            FailedPrecondition: the coordinator has no store.
        """
        answer = self._transport.ask("Book/List", book_pb2.ListBooksRequest(), book_pb2.ListBooksResponse)
        return [BookInfo(it.book, it.positions, it.analysed, it.stale) for it in answer.books]


def _spec(
    position: Position,
    notation: str,
    depth: Optional[int],
    time: Optional[float],
    nodes: Optional[int],
    multipv: int,
    prune: str,
    deterministic: bool,
    priority: int,
    detach: bool,
) -> types_pb2.JobSpec:
    return types_pb2.JobSpec(
        position=position_of(position, notation),
        limits=limits_of(depth, time, nodes),
        multipv=multipv,
        prune=prune_of(prune),
        deterministic=deterministic,
        priority=priority,
        detach=detach,
    )
