"""A client of Corridor, a cluster that analyses the board game Quoridor.

    import corridor

    for event in corridor.analyze("e2 e8 e3", depth=10, coordinator="127.0.0.1:4242"):
        if isinstance(event, corridor.Iteration):
            print(event.depth, event.best_move, event.score)

A stream that breaks, because the coordinator was restarted say, goes on behind the last event without the caller noticing.
"""

from __future__ import annotations

from typing import Optional

from corridor._transport import Addresses
from corridor.board import Board, Svg, board_svg, tint
from corridor.book import Book, BookInfo, Checked, Imported, ImportFault
from corridor.client import Client, Events
from corridor.errors import (
    Aborted,
    AlreadyExists,
    CorridorError,
    DataLoss,
    DeadlineExceeded,
    FailedPrecondition,
    InvalidArgument,
    JobFailed,
    JobGone,
    NotFound,
    PermissionDenied,
    ResourceExhausted,
    Unauthenticated,
    Unavailable,
    Unimplemented,
)
from corridor.events import (
    Accepted,
    Audit,
    BookAccepted,
    BookChild,
    BookDone,
    BookNode,
    BookPosition,
    BookPositionFailed,
    BookValue,
    Done,
    Error,
    Event,
    Heat,
    HeatMap,
    Iteration,
    JobSummary,
    Limits,
    Line,
    Move,
    MoveHeat,
    Score,
    State,
    Unknown,
    WallHeat,
    Worker,
)

__version__ = "0.1.0"

__all__ = [
    "Aborted",
    "Accepted",
    "AlreadyExists",
    "Audit",
    "Board",
    "Book",
    "BookAccepted",
    "BookChild",
    "BookDone",
    "BookInfo",
    "BookNode",
    "BookPosition",
    "BookPositionFailed",
    "BookValue",
    "Checked",
    "Client",
    "CorridorError",
    "DataLoss",
    "DeadlineExceeded",
    "Done",
    "Error",
    "Event",
    "Events",
    "FailedPrecondition",
    "Heat",
    "HeatMap",
    "ImportFault",
    "Imported",
    "InvalidArgument",
    "Iteration",
    "JobFailed",
    "JobGone",
    "JobSummary",
    "Limits",
    "Line",
    "Move",
    "MoveHeat",
    "NotFound",
    "PermissionDenied",
    "ResourceExhausted",
    "Score",
    "State",
    "Svg",
    "Unauthenticated",
    "Unavailable",
    "Unimplemented",
    "Unknown",
    "WallHeat",
    "Worker",
    "analyze",
    "board_svg",
    "tint",
]


def analyze(
    position: str,
    *,
    coordinator: Addresses = None,
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
) -> Events:
    """Has a position analysed by the cluster at `coordinator`; the rest is as of `Client.analyze`."""
    client = Client(coordinator)
    try:
        return client.analyze(
            position,
            depth=depth,
            time=time,
            nodes=nodes,
            multipv=multipv,
            prune=prune,
            deterministic=deterministic,
            priority=priority,
            detach=detach,
            fresh=fresh,
            notation=notation,
            _owned=True,
        )
    except BaseException:
        client.close()
        raise
