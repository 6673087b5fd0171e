"""Pictures of boards, and the example that draws them."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import conftest
import pytest

import corridor

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
START = "/ / e1 e9 / 10 10 / 1"
SVG = "{http://www.w3.org/2000/svg}"


def elements(svg: str, name: str, style: str) -> list[ElementTree.Element]:
    return [it for it in ElementTree.fromstring(svg).iter(SVG + name) if it.get("class") == style]


def title(element: ElementTree.Element) -> str:
    return element.findtext(SVG + "title") or ""


def fills(svg: str) -> dict[str, str]:
    """Colour of each square that has one of its own."""
    squares = [it for it in elements(svg, "rect", "sq") if it.get("style")]
    return {title(it)[:2]: str(it.get("style")) for it in squares}


def test_the_ramp_is_fixed() -> None:
    assert [corridor.tint(it) for it in (0, 59)] == [None, None]
    assert [corridor.tint(it) for it in (60, 160, 240, 480)] == ["#fff09e", "#fa8e3c", "#de3630", "#de3630"]
    greens = [int(str(corridor.tint(it))[3:5], 16) for it in range(60, 241)]
    assert greens == sorted(greens, reverse=True), "hotter never looks yellower"


@pytest.mark.parametrize("moves", ["", "e2 e8 e3 e7 e4 e6 e4h d6h a1v", "e2 d8v"])
def test_colours_and_walls_are_those_of_the_command_line(client: corridor.Client, tmp_path: Path, moves: str) -> None:
    file = tmp_path / "heat.svg"
    [told] = conftest.command_line("heat", "--moves", moves, "--svg", str(file))
    wanted, heat = file.read_text(), client.heat(moves)
    svg = corridor.board_svg(heat)
    assert fills(svg) == fills(wanted) != {}
    for style in ("out", "skip"):
        # Of the legend the command line has one more, without words.
        names = [re.split("[: ]", title(it))[0] for it in elements(wanted, "rect", style) if title(it)]
        assert [re.split("[: ]", title(it))[0] for it in elements(svg, "rect", style)] == names
    stand = [title(it) for it in elements(svg, "rect", "wall")]
    assert sorted(stand) == sorted(title(it) for it in elements(wanted, "rect", "wall"))
    numbers = [
        int(it.text or "") for it in ElementTree.fromstring(svg).iter(SVG + "text") if "cm" in str(it.get("class"))
    ]
    shown = [it for it in told["cat_display"] if it > 0]
    assert sorted(numbers) == sorted(shown)


def test_a_board_without_heat_has_no_colours() -> None:
    svg = corridor.board_svg(START)
    assert len(elements(svg, "rect", "sq")) == 81 and fills(svg) == {}
    assert [title(it) for it in elements(svg, "circle", "white")] == ["White on e1"]
    assert "White 10 walls, Black 10 walls, White to move" in svg
    assert svg._repr_svg_() == str(svg)


def test_unreachable_squares_are_dark() -> None:
    # A wall above a2 and b2, one right of b1 and b2.
    dark = corridor.board_svg("a2 / b1 / e1 e9 / 9 9 / 1", [0] * 81)
    assert {title(it)[:2] for it in elements(dark, "rect", "void")} == {"a1", "b1", "a2", "b2"}


def test_the_best_move_is_pointed_out() -> None:
    [wall] = elements(corridor.board_svg(START, best_move="e3h"), "rect", "best")
    [standing] = elements(corridor.board_svg("e3 / / e1 e9 / 9 10 / 2"), "rect", "wall")
    assert {key: wall.get(key) for key in ("x", "y", "width", "height")} == {
        key: standing.get(key) for key in ("x", "y", "width", "height")
    }
    [ring] = elements(corridor.board_svg(START, best_move="e2"), "circle", "ring")
    assert title(ring) == "best move e2"


def test_text_is_escaped() -> None:
    svg = corridor.board_svg(START, title="<script>alert('&')</script>")
    assert "<script" not in svg
    [line] = [it.text for it in ElementTree.fromstring(svg).iter(SVG + "text") if "script" in (it.text or "")]
    assert line == "<script>alert('&')</script>"


@pytest.mark.parametrize(
    "position",
    [
        "",
        "/ / e1 e9 / 10 10",
        "/ / e1 / 10 10 / 1",
        "/ / e0 e9 / 10 10 / 1",
        "i1 / / e1 e9 / 10 10 / 1",
        "/ / e1 e9 / 10 10 / 3",
    ],
)
def test_what_is_no_position_is_not_drawn(position: str) -> None:
    with pytest.raises(ValueError, match="position"):
        corridor.board_svg(position)


def test_what_is_no_heat_or_move_is_not_drawn() -> None:
    with pytest.raises(ValueError, match="heat: 80 values"):
        corridor.board_svg(START, [0] * 80)
    for move in ("e9h", "e3x", "j1", '"/>'):
        with pytest.raises(ValueError, match="is n"):
            corridor.board_svg(START, best_move=move)


def test_the_example_runs(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import score_over_depth

    file = tmp_path / "board.svg"
    score_over_depth.main(["e2 e8", "--depth", "3", "--coordinator", address, "--board", str(file)])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["depth", "1", "2", "3"]
    assert "at depth 3" in file.read_text() and fills(file.read_text())


def test_the_notebook_runs(address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.setenv("CORRIDOR_COORDINATOR", address)
    # Whether there is a plot must not depend on the machine.
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    names: dict[str, Any] = {}
    cells = json.loads((EXAMPLES / "score_over_depth.ipynb").read_text())["cells"]
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    assert len(capsys.readouterr().out.splitlines()) == 7
    assert names["story"].done.depth == 6 and "matplotlib" in names["figure"]
    svg = eval("board(story)", names)._repr_svg_()
    assert fills(svg) and elements(svg, "rect", "best") + elements(svg, "circle", "ring")
