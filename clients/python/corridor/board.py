"""The board as SVG, with its heat in colours that are the same for every position."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional, Union

from corridor.events import Accepted, Heat, HeatMap

#: Below this there is no tint, here the ramp stands at 0.65, and from here on at 1, in cm.
COLD_CM, HOT_CM, CEILING_CM = 60, 160, 240
_HOT_AT = 0.65
#: The colours on the way from yellow to red, with their places.
_STOPS = ((0.0, (255, 240, 158)), (0.35, (255, 205, 87)), (_HOT_AT, (250, 142, 60)), (1.0, (222, 54, 48)))

#: Lengths in pixels: a square's side, from one to the next, and the corner of the first; the walls lie between.
_SIDE, _PITCH, _LEFT, _TOP = 46, 56, 40, 44
_BOARD = 8 * _PITCH + _SIDE
_WIDTH, _HEIGHT = _LEFT + _BOARD + 16, _TOP + _BOARD + 64

_STYLE = (
    ".cb{font-family:system-ui,sans-serif}.cb .paper{fill:#fbf9f4}.cb .sq{fill:#f3ecdf;stroke:#d9cdb8}.cb .void{fill:#4a4550}"
    ".cb text{fill:#2b2722;text-anchor:middle}.cb .co{font-size:13px;fill:#8d857a}.cb .cm{font-size:12.5px}.cb .cold{fill:#8d857a}"
    ".cb .wall{fill:#5b3a1e}.cb .best{fill:#0b7285}.cb .ring{fill:none;stroke:#0b7285;stroke-width:4}"
    ".cb .white{fill:#fffdf8;stroke:#3b3630;stroke-width:2}.cb .black{fill:#26231f;stroke:#fffdf8;stroke-width:2}"
    ".cb .onblack{fill:#fffdf8}.cb .out{fill:#fbf9f4;fill-opacity:.55;stroke:#1971c2;stroke-width:1.5}.cb .skip{fill:transparent}"
    ".cb .side{font-size:14px;text-anchor:start}"
)

Square = tuple[int, int]


class Svg(str):
    """A picture: the text of an SVG document, which a notebook shows as a picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        """For notebooks."""
        return str(self)


@dataclass(frozen=True)
class Board:
    """A position, as its text says: squares and wall slots are (row, column), 0 to 8 from a1; `turn` is `white` or `black`."""

    horizontal: frozenset[Square]
    vertical: frozenset[Square]
    white: Square
    black: Square
    white_walls: int
    black_walls: int
    turn: str

    @staticmethod
    def parse(text: str) -> Board:
        """Reads "HWALLS / VWALLS / WHITE BLACK / WHITEWALLS BLACKWALLS / TURN". Whether it is possible is for a cluster to say.

        Raises:
            ValueError: it does not read.
        """
        parts = [part.strip() for part in text.split("/")]
        if len(parts) != 5:
            raise ValueError(f"position: '{text}' has {len(parts)} parts, not 5")
        pawns, hands = parts[2].split(), parts[3].split()
        if len(pawns) != 2 or len(hands) != 2 or parts[4] not in ("1", "2"):
            raise ValueError(f"position: '{text}' does not read")
        horizontal, vertical = (_squares(part, "h") for part in parts[:2])
        white, black = (_square(pawn, "i9") for pawn in pawns)
        turn = "white" if parts[4] == "1" else "black"
        return Board(horizontal, vertical, white, black, int(hands[0]), int(hands[1]), turn)

    def is_open(self, one: Square, other: Square) -> bool:
        """Whether no wall stands between two squares that have an edge in common."""
        (row, column), (row2, column2) = min(one, other), max(one, other)
        if row != row2:
            return not {(row, column), (row, column - 1)} & self.horizontal
        return not {(row, min(column, column2)), (row - 1, min(column, column2))} & self.vertical

    def reachable(self) -> frozenset[Square]:
        """The squares that one of the pawns can get to."""
        found, open_squares = {self.white, self.black}, [self.white, self.black]
        while open_squares:
            row, column = open_squares.pop()
            for near in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
                on_board = 0 <= near[0] <= 8 and 0 <= near[1] <= 8
                if on_board and near not in found and self.is_open((row, column), near):
                    found.add(near)
                    open_squares.append(near)
        return frozenset(found)


def tint(heat_cm: int) -> Optional[str]:
    """The colour of a square with so much heat, `#rrggbb`; None below 60 cm. The same cm always has the same colour."""
    heat = min(heat_cm, CEILING_CM)
    if heat < COLD_CM:
        return None
    if heat < HOT_CM:
        place = _HOT_AT * (heat - COLD_CM) / (HOT_CM - COLD_CM)
    else:
        place = _HOT_AT + (1 - _HOT_AT) * (heat - HOT_CM) / (CEILING_CM - HOT_CM)
    upper = max(1, next(index for index, (at, _) in enumerate(_STOPS) if at >= place))
    (start, low), (end, high) = _STOPS[upper - 1], _STOPS[upper]
    share = (place - start) / (end - start)
    # Halves away from 0, as everywhere else in Corridor.
    channels = [int(a + share * (b - a) + 0.5) for a, b in zip(low, high)]
    return "#" + "".join(f"{channel:02x}" for channel in channels)


def board_svg(
    position: Union[str, Accepted, HeatMap],
    heat: Union[Sequence[int], Heat, HeatMap, None] = None,
    *,
    best_move: Optional[str] = None,
    title: Optional[str] = None,
) -> Svg:
    """Draws a position, with its heat if that is given.

    Args:
        position: its text, or an event or heat map that has it; a heat map is then also the heat.
        heat: 81 values in cm, row by row from a1, of which a `Heat` event or a `HeatMap` gives the display table. A map also has the
            legal walls, the searched ones outlined; why others are skipped shows on hover.
        best_move: a move to point out.
        title: a line of text above the board.

    Raises:
        ValueError: the position or the move does not read, or there are not 81 values.
    """
    if isinstance(position, HeatMap) and heat is None:
        heat = position
    text = position if isinstance(position, str) else position.position
    board = Board.parse(text)
    walls = heat.walls if isinstance(heat, HeatMap) else ()
    values = heat.cat_display if isinstance(heat, (Heat, HeatMap)) else heat
    if values is not None and len(values) != 81:
        raise ValueError(f"heat: {len(values)} values, not 81")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="cb" role="img" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}"'
        f' height="{_HEIGHT}"><title>{html.escape("Quoridor position " + text)}</title><style>{_STYLE}</style>'
        f'<rect class="paper" width="{_WIDTH}" height="{_HEIGHT}" rx="10"/>'
    ]
    if title is not None:
        parts.append(f'<text class="side" x="{_LEFT}" y="28">{html.escape(title)}</text>')
    parts += _coordinates()
    reachable = board.reachable()
    for row in range(9):
        for column in range(9):
            value = None if values is None else values[9 * row + column]
            square = (row, column)
            # A pawn has the number on itself.
            has_number = square not in (board.white, board.black)
            parts.append(_draw_square(square, value, square in reachable, has_number))
    for wall in walls:
        verdict = f"{wall.wall}: {wall.heat_cm} + {wall.shape_bonus_cm} cm, "
        verdict += f"{'searched' if wall.searched else 'skipped'} ({wall.reason})"
        parts.append(_draw_wall(wall.wall, "out" if wall.searched else "skip", verdict, 38))
    for kind, slots in (("h", board.horizontal), ("v", board.vertical)):
        for slot in sorted(slots):
            parts.append(_draw_wall(_name(slot) + kind, "wall", f"{_name(slot)}{kind} stands", 2 * _SIDE + 10))
    for color, square in (("white", board.white), ("black", board.black)):
        value = None if values is None else values[9 * square[0] + square[1]]
        parts.append(_draw_pawn(color, square, value))
    if best_move is not None:
        parts.append(_draw_best(best_move))
    hands = f"White {board.white_walls} walls, Black {board.black_walls} walls, {board.turn.capitalize()} to move"
    parts.append(f'<text class="side" x="{_LEFT}" y="{_HEIGHT - 14}">{hands}</text></svg>\n')
    return Svg("".join(parts))


def _square(text: str, last: str) -> Square:
    if len(text) != 2 or not ("a" <= text[0] <= last[0] and "1" <= text[1] <= last[1]):
        raise ValueError(f"position: '{text}' is not within a1..{last}")
    return ord(text[1]) - ord("1"), ord(text[0]) - ord("a")


def _squares(text: str, last: str) -> frozenset[Square]:
    packed = "".join(text.split())
    return frozenset(_square(packed[index : index + 2], last + "8") for index in range(0, len(packed), 2))


def _name(square: Square) -> str:
    return f"{'abcdefghi'[square[1]]}{square[0] + 1}"


def _corner(square: Square) -> tuple[int, int]:
    return _LEFT + square[1] * _PITCH, _TOP + (8 - square[0]) * _PITCH


def _coordinates() -> list[str]:
    parts = []
    for index in range(9):
        x, y = _corner((index, index))
        parts.append(f'<text class="co" x="{x + _SIDE // 2}" y="{_TOP + _BOARD + 20}">{"abcdefghi"[index]}</text>')
        parts.append(f'<text class="co" x="{_LEFT - 18}" y="{y + _SIDE // 2 + 5}">{index + 1}</text>')
    return parts


def _draw_square(square: Square, heat_cm: Optional[int], is_reachable: bool, has_number: bool) -> str:
    x, y = _corner(square)
    name = _name(square)
    frame = f'x="{x}" y="{y}" width="{_SIDE}" height="{_SIDE}" rx="6"'
    if heat_cm is None:
        return f'<rect class="sq" {frame}><title>{name}</title></rect>'
    if not is_reachable:
        return f'<rect class="void" {frame}><title>{name}: unreachable</title></rect>'
    color = tint(heat_cm)
    fill = "" if color is None else f' style="fill:{color}"'
    number = _number(square, heat_cm, "cm cold" if color is None else "cm") if heat_cm and has_number else ""
    return f'<rect class="sq" {frame}{fill}><title>{name}: {heat_cm} cm</title></rect>{number}'


def _number(square: Square, heat_cm: int, style: str) -> str:
    x, y = _corner(square)
    middle = f'x="{x + _SIDE // 2}" y="{y + _SIDE // 2 + 4}"'
    return f'<text class="{style}" {middle} pointer-events="none">{heat_cm}</text>'


def _draw_pawn(color: str, square: Square, heat_cm: Optional[int]) -> str:
    x, y = _corner(square)
    middle = f'cx="{x + _SIDE // 2}" cy="{y + _SIDE // 2}" r="17"'
    number = _number(square, heat_cm, "cm onblack" if color == "black" else "cm") if heat_cm else ""
    return f'<circle class="{color}" {middle}><title>{color.capitalize()} on {_name(square)}</title></circle>{number}'


def _draw_wall(wall: str, style: str, title: str, length: int) -> str:
    """A wall round its middle. Those that could be placed are shorter than they are: neighbouring ones would overlap."""
    if not re.fullmatch("[a-h][1-8][hv]", wall):
        raise ValueError(f"'{wall}' is no wall")
    x, y = _corner(_square(wall[:2], "h8"))
    middle_x, middle_y = x + _SIDE + 5, y - 5
    width, height = (length, 8) if wall[2] == "h" else (8, length)
    frame = f'x="{middle_x - width // 2}" y="{middle_y - height // 2}" width="{width}" height="{height}" rx="3"'
    return f'<rect class="{style}" {frame}><title>{html.escape(title)}</title></rect>'


def _draw_best(move: str) -> str:
    if len(move) == 3:
        return _draw_wall(move, "best", f"best move {move}", 2 * _SIDE + 10)
    x, y = _corner(_square(move, "i9"))
    middle = f'cx="{x + _SIDE // 2}" cy="{y + _SIDE // 2}" r="19"'
    return f'<circle class="ring" {middle} pointer-events="none"><title>best move {move}</title></circle>'
