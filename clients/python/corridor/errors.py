"""What goes wrong, as exceptions. All of them are `CorridorError`."""

from __future__ import annotations

import re
from typing import Optional

import grpc

_FIELD = re.compile(r"^([a-z_]\w*(?:\[\d+\])?(?:\.[a-z_]\w*(?:\[\d+\])?)*): (.*)$", re.DOTALL)


class CorridorError(Exception):
    """Something went wrong.

    Attributes:
        code: name of the gRPC code, in lower case: `not_found`, `unavailable`, ...
        message: what went wrong, in plain words.
    """

    code = "unknown"

    def __init__(self, message: str, code: Optional[str] = None) -> None:
        """An error with its message; `code` if it is not the class's own."""
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code


class InvalidArgument(CorridorError):
    """The request is not as it must be; to ask the same again is of no use.

    Attributes:
        field: path of the field at fault, such as `spec.limits.depth`; None if the message names none.
        fault: what is wrong with it; for moves it names the ply.
    """

    code = "invalid_argument"

    def __init__(self, message: str, code: Optional[str] = None) -> None:
        """An error that takes its field from its message, where that names one."""
        super().__init__(message, code)
        found = _FIELD.match(message)
        self.field: Optional[str] = found.group(1) if found else None
        self.fault: str = found.group(2) if found else message


class NotFound(CorridorError):
    """There is no such job, book or position."""

    code = "not_found"


class AlreadyExists(CorridorError):
    """The name is taken."""

    code = "already_exists"


class FailedPrecondition(CorridorError):
    """It cannot be done as things stand: the job has ended, the coordinator keeps no books, ..."""

    code = "failed_precondition"


class ResourceExhausted(CorridorError):
    """A limit is reached; the message names it."""

    code = "resource_exhausted"


class Unavailable(CorridorError):
    """No coordinator answers, or none that can answer now."""

    code = "unavailable"


class DeadlineExceeded(CorridorError):
    """There was no answer in time."""

    code = "deadline_exceeded"


class Aborted(CorridorError):
    """The coordinator ended the stream: it was read too slowly."""

    code = "aborted"


class Unimplemented(CorridorError):
    """This coordinator does not do it."""

    code = "unimplemented"


class DataLoss(CorridorError):
    """What is in the coordinator's store does not read."""

    code = "data_loss"


class Unauthenticated(CorridorError):
    """The coordinator wants to know who asks."""

    code = "unauthenticated"


class PermissionDenied(CorridorError):
    """Whoever asks may not do this."""

    code = "permission_denied"


class JobGone(CorridorError):
    """The coordinator came back without the job (it has no store), or with another one under its number."""

    code = "data_loss"


class JobFailed(CorridorError):
    """The job ended with an `Error` event, whose code and message these are."""

    code = "internal"


_BY_CODE = {
    kind.code: kind
    for kind in (
        InvalidArgument,
        NotFound,
        AlreadyExists,
        FailedPrecondition,
        ResourceExhausted,
        Unavailable,
        DeadlineExceeded,
        Aborted,
        Unimplemented,
        DataLoss,
        Unauthenticated,
        PermissionDenied,
    )
}


def code_of(error: grpc.RpcError) -> str:
    """Name of an error's code, in lower case."""
    code = error.code() if isinstance(error, grpc.Call) else None
    return "unknown" if code is None else str(code.name).lower()


def from_rpc(error: grpc.RpcError, address: str) -> CorridorError:
    """The exception that a failed call is."""
    code = code_of(error)
    details = (error.details() or "") if isinstance(error, grpc.Call) else ""
    kind = _BY_CODE.get(code, CorridorError)
    if kind in (Unavailable, DeadlineExceeded):
        details = f"{address}: {details or code}"
    return kind(details or code, code)
