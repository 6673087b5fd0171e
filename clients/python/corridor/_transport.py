"""Calls to whichever of the coordinators answers: deadlines, retries with jittered backoff, the wire's limits."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Callable, Optional, Protocol, TypeVar, Union, cast

import grpc
from google.protobuf.message import Message

from corridor.errors import CorridorError, Unavailable, code_of, from_rpc

#: Largest message in either direction (`max_message_bytes`); gRPC's own default of 4 MiB is too small for a large import.
MAX_MESSAGE_BYTES = 16 << 20
#: How often a quiet connection is asked for a sign of life, and how long it may take to give it (`keepalive_interval`, `_timeout`).
KEEPALIVE_MS = 8_000
#: Whoever gets no answer from any coordinator within this time, in seconds, gives up.
ANSWER_TIME = 8.0
#: A stream that broke is taken up again for so long, in seconds: a coordinator that is restarted is back by then.
RESUME_TIME = 60.0
#: Pauses between two tries, in seconds, doubling, of which up to a half is left out at random.
BACKOFF_MIN = 0.1
BACKOFF_MAX = 2.0

_OPTIONS = (
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.keepalive_time_ms", KEEPALIVE_MS),
    ("grpc.keepalive_timeout_ms", KEEPALIVE_MS),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    # A connection of one's own, whose pauses are one's own.
    ("grpc.use_local_subchannel_pool", 1),
    # Retries are made here, where it is known what may be asked twice.
    ("grpc.enable_retries", 0),
)

Addresses = Union[str, Sequence[str], None]
Answer = TypeVar("Answer", bound=Message)
_Co = TypeVar("_Co", bound=Message, covariant=True)


class Call(Protocol[_Co]):
    """Messages that come, until there are no more or somebody cancels it."""

    def __next__(self) -> _Co:
        """The next message."""

    def __iter__(self) -> Iterator[_Co]:
        """The messages."""

    def cancel(self) -> bool:
        """Ends it from here."""


def backoff(attempt: int) -> float:
    """The pause before a try, in seconds; attempts are counted from 0."""
    pause = min(BACKOFF_MAX, BACKOFF_MIN * 2.0 ** min(attempt, 16))
    return pause * (1 - random.random() / 2)


def read_addresses(addresses: Addresses) -> list[tuple[str, bool]]:
    """Reads `HOST:PORT` or URLs, several separated by commas. Of each: the address, and whether it is `https`.

    Raises:
        ValueError: one of them is no address.
    """
    if addresses is None:
        addresses = os.environ.get("CORRIDOR_COORDINATOR", "127.0.0.1:4242")
    texts = addresses.split(",") if isinstance(addresses, str) else list(addresses)
    read = []
    for text in texts:
        scheme, _, rest = text.strip().rpartition("://")
        host, _, port = rest.rstrip("/").rpartition(":")
        if scheme not in ("", "http", "https") or not host or "/" in host or not port.isdigit():
            raise ValueError(f"coordinator: '{text}' is no HOST:PORT or http://HOST:PORT")
        if not 0 < int(port) < 65_536:
            raise ValueError(f"coordinator: the port of '{text}' must be 1 to 65535")
        read.append((f"{host}:{port}", scheme == "https"))
    if not read:
        raise ValueError("coordinator: HOST:PORT is wanted")
    return read


class Transport:
    """Connections to the coordinators, of which the first that answers is used for as long as it does."""

    def __init__(
        self,
        addresses: Addresses,
        credentials: Optional[grpc.ChannelCredentials],
        token: Optional[str],
        timeout: float,
    ) -> None:
        """Connects when something is asked."""
        self.timeout = timeout
        self._metadata: tuple[tuple[str, str], ...] = (("authorization", f"Bearer {token}"),) if token else ()
        self._addresses = []
        self._channels = []
        for address, is_secure in read_addresses(addresses):
            self._addresses.append(address)
            if is_secure or credentials is not None:
                secret = credentials or grpc.ssl_channel_credentials()
                self._channels.append(grpc.secure_channel(address, secret, options=_OPTIONS))
            else:
                self._channels.append(grpc.insecure_channel(address, options=_OPTIONS))
        self._first = 0
        self.is_closed = False

    def close(self) -> None:
        """Closes the connections; calls on them end."""
        self.is_closed = True
        for channel in self._channels:
            channel.close()

    @property
    def address(self) -> str:
        """Whom the next question goes to."""
        return self._addresses[self._first]

    def fail(self) -> None:
        """Asks another one first, from now on."""
        self._first = (self._first + 1) % len(self._channels)

    def connect(self, timeout: float) -> grpc.Channel:
        """A connection to a coordinator that says it can answer; if none does, to one that answers at all.

        Raises:
            Unavailable: none of the coordinators can be reached in time.
            CorridorError: the client was closed.
        """
        self._check_open()
        order = [(self._first + index) % len(self._channels) for index in range(len(self._channels))]
        probes = {index: _Probe(self._channels[index], max(0.001, timeout), self._metadata) for index in order}
        ends = time.monotonic() + timeout
        while True:
            told = [index for index in order if probes[index].is_alive]
            serving = [index for index in told if probes[index].is_serving]
            now = time.monotonic()
            if told and not serving:
                ends = min(ends, now + _OTHERS_TIME)
            if serving or now >= ends or all(probe.is_over for probe in probes.values()):
                break
            _Probe.wait(probes.values(), ends - now)
        for probe in probes.values():
            probe.cancel()
        if not told:
            raise Unavailable(f"connect to {', '.join(self._addresses)}: no answer in {timeout:.3g} s")
        self._first = (serving or told)[0]
        return self._channels[self._first]

    def ask(
        self, method: str, request: Message, answer: type[Answer], timeout: Optional[float] = None, once: bool = False
    ) -> Answer:
        """Asks a question that has one answer; again while nobody can answer, unless it may be asked only `once`.

        Raises:
            CorridorError: the refusal, or that there is no answer in time.
        """

        def call(channel: grpc.Channel, left: float) -> Answer:
            ask = channel.unary_unary(_path(method), _serialize, answer.FromString)
            return cast(Answer, ask(request, timeout=left, metadata=self._metadata))

        return self._insist(call, timeout, once)

    def send(
        self,
        method: str,
        requests: Callable[[], Iterator[Message]],
        answer: type[Answer],
        timeout: Optional[float] = None,
    ) -> Answer:
        """Sends messages for one answer; all of them again while nobody can answer.

        Raises:
            CorridorError: as of `ask`.
        """

        def call(channel: grpc.Channel, left: float) -> Answer:
            send = channel.stream_unary(_path(method), _serialize, answer.FromString)
            return cast(Answer, send(requests(), timeout=left, metadata=self._metadata))

        return self._insist(call, timeout, False)

    def stream(
        self, method: str, request: Message, answer: type[Answer], timeout: Optional[float] = None
    ) -> Call[Answer]:
        """Asks once for messages, over a connection that stands. What goes wrong afterwards shows when they are read.

        Raises:
            Unavailable: as of `connect`.
        """
        channel = self.connect(self.timeout if timeout is None else timeout)
        ask = channel.unary_stream(_path(method), _serialize, answer.FromString)
        return cast("Call[Answer]", ask(request, metadata=self._metadata))

    def _insist(self, call: Callable[[grpc.Channel, float], Answer], timeout: Optional[float], once: bool) -> Answer:
        self._check_open()
        wanted = self.timeout if timeout is None else timeout
        ends = time.monotonic() + wanted
        attempt = 0
        # What may be asked again need not be announced.
        channel = self.connect(wanted) if once else self._channels[self._first]
        while True:
            try:
                return call(channel, max(0.001, ends - time.monotonic()))
            except grpc.RpcError as error:
                failure = self.failure(error)
                pause = backoff(attempt)
                if once or not isinstance(failure, Unavailable) or time.monotonic() + pause >= ends:
                    raise failure from error
            self.fail()
            attempt += 1
            time.sleep(pause)
            channel = self.connect(ends - time.monotonic())

    def _check_open(self) -> None:
        if self.is_closed:
            raise CorridorError("the client was closed", "cancelled")

    def failure(self, error: grpc.RpcError) -> CorridorError:
        """The exception that a failed call of the present coordinator is."""
        return from_rpc(error, self.address)


class _Probe:
    """The standard question after a server's health, which waits for a connection."""

    _news = threading.Condition()

    def __init__(self, channel: grpc.Channel, timeout: float, metadata: tuple[tuple[str, str], ...]) -> None:
        self.is_alive = self.is_serving = self.is_over = False
        check = channel.unary_unary("/grpc.health.v1.Health/Check", _serialize_nothing, bytes)
        self._asked = cast(Any, check).future(None, timeout=timeout, metadata=metadata, wait_for_ready=True)
        self._asked.add_done_callback(self._take)

    @staticmethod
    def wait(probes: Iterable[_Probe], timeout: float) -> None:
        """Waits until there may be something new of one of them."""
        with _Probe._news:
            if not any(probe.is_serving for probe in probes):
                _Probe._news.wait(min(timeout, _LOOK_TIME))

    def cancel(self) -> None:
        """Nobody wants to know any more."""
        self._asked.cancel()

    def _take(self, asked: Any) -> None:
        code = asked.code()
        with _Probe._news:
            self.is_over = True
            # Whoever refuses the question is there too.
            silent = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED)
            self.is_alive = code not in silent
            self.is_serving = self.is_alive and (code is not grpc.StatusCode.OK or asked.result() == _SERVING)
            _Probe._news.notify_all()


#: `HealthCheckResponse { status: SERVING }`, encoded.
_SERVING = b"\x08\x01"
#: How long others may take to say that they can answer when one says that it cannot, in seconds.
_OTHERS_TIME = 0.5
#: How often it is looked at what is known of several, at least, in seconds.
_LOOK_TIME = 0.5


def _serialize_nothing(_: Any) -> bytes:
    return b""


def is_broken_line(error: grpc.RpcError) -> bool:
    """Whether it was the line, or a coordinator that goes or was too fast for us, and so whether another try makes sense."""
    if code_of(error) == "internal":
        return "RST_STREAM" in str(error.details() if isinstance(error, grpc.Call) else "")
    return code_of(error) in ("unavailable", "aborted", "cancelled", "unknown")


def _path(method: str) -> str:
    return f"/corridor.v1.{method}"


def _serialize(message: Any) -> bytes:
    return bytes(message.SerializeToString())
