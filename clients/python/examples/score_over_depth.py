#!/usr/bin/env python3
"""How a position's score settles as the search goes deeper, and where on the board the play is.

    python score_over_depth.py "e2 e8 e3 e7 e4 e6" --depth 8 --board board.svg --plot score.png

The plot needs matplotlib; without `--plot` there is a table only.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple, Optional

import corridor


class Story(NamedTuple):
    """What is known of an analysis when it is over."""

    accepted: corridor.Accepted
    heat: corridor.Heat
    depths: list[corridor.Iteration]
    done: corridor.Done


def story_of(events: corridor.Events) -> Story:
    """Reads an analysis to its end.

    Raises:
        JobFailed: it failed.
        CorridorError: the stream broke for good, or the job has no such events.
    """
    accepted: Optional[corridor.Accepted] = None
    heat: Optional[corridor.Heat] = None
    depths: list[corridor.Iteration] = []
    for event in events:
        if isinstance(event, corridor.Accepted):
            accepted = event
        elif isinstance(event, corridor.Heat) and event.move is None:
            heat = event
        elif isinstance(event, corridor.Iteration):
            depths.append(event)
        elif isinstance(event, corridor.Error):
            raise corridor.JobFailed(event.message, event.code)
        elif isinstance(event, corridor.Done) and accepted is not None and heat is not None:
            return Story(accepted, heat, depths, event)
    raise corridor.CorridorError("this is no analysis of a position that goes on")


def table(story: Story) -> str:
    """A line for each depth."""
    lines = ["depth  score  best   nodes"]
    lines += [f"{it.depth:5}  {it.score!s:>5}  {it.best_move:5}  {it.nodes}" for it in story.depths]
    return "\n".join(lines)


def board(story: Story) -> corridor.Svg:
    """The board with its heat and the best move."""
    title = f"{story.done.best_move}: {story.done.score} at depth {story.done.depth}"
    return corridor.board_svg(story.accepted, story.heat, best_move=story.done.best_move, title=title)


def plot(story: Story) -> Any:
    """A figure of the score over depth; a proven win is at the edge. Needs matplotlib."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4))
    axes = figure.subplots()
    scores = [0.0 if it.score is None else max(-20.0, min(20.0, it.score.squares)) for it in story.depths]
    axes.plot([it.depth for it in story.depths], scores, marker="o")
    axes.axhline(0, color="gray", linewidth=0.8)
    axes.set_xlabel("depth in plies")
    axes.set_ylabel("score in squares, White's view")
    axes.set_title(story.accepted.position)
    return figure


def main(arguments: Optional[list[str]] = None) -> None:
    """Runs the example."""
    parser = argparse.ArgumentParser(description="Score over depth, and the board with its heat.")
    parser.add_argument("position", help="moves from the start, or a position's text")
    parser.add_argument("--coordinator", help="HOST:PORT [default: CORRIDOR_COORDINATOR, or 127.0.0.1:4242]")
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--board", type=Path, help="draw the board into this SVG file")
    parser.add_argument("--plot", type=Path, help="plot the scores into this file (needs matplotlib)")
    asked = parser.parse_args(arguments)
    with corridor.analyze(asked.position, depth=asked.depth, coordinator=asked.coordinator) as events:
        story = story_of(events)
    print(table(story))
    if asked.board is not None:
        asked.board.write_text(board(story), encoding="utf-8")
    if asked.plot is not None:
        plot(story).savefig(asked.plot)


if __name__ == "__main__":
    main()
