"""What docs/clients.md says is done as it stands there, but for the address."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

import corridor

PAGE = Path(__file__).resolve().parents[3] / "docs" / "clients.md"
THERE = "127.0.0.1:4242"


def blocks(language: str, address: str) -> list[str]:
    found = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [text.replace(THERE, address) for text in found]


def test_python(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CORRIDOR_COORDINATOR", raising=False)
    told = []
    for text in blocks("python", address):
        exec(compile(text, str(PAGE), "exec"), {})
        told.append(capsys.readouterr().out)
    events, client, book, _ = told
    assert [line.split()[0] for line in events.splitlines()] == ["1", "2", "3", "4", "5", "6", "depth"]
    assert "spec.position.moves.text - ply 3 (e9)" in client
    assert re.search(r"^2 Heat$", client, re.MULTILINE) and not re.search(r"^1 ", client, re.MULTILINE)
    assert book.splitlines()[-1] == "7 positions"
    assert (tmp_path / "board.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.grpcurl
def test_grpcurl(address: str, client: corridor.Client) -> None:
    client.submit("e2", depth=1)
    [text] = [block for block in blocks("sh", address) if "grpcurl" in block]
    told = []
    for line in text.splitlines():
        ran = subprocess.run(shlex.split(line), capture_output=True, text=True, timeout=60)
        assert ran.returncode == 0, f"{line}: {ran.stderr}"
        told.append(ran.stdout)
    listed, described, moves, analysed, watched = told
    assert "corridor.v1.Analysis" in listed.split()
    assert "// Which moves are searched; must be declared." in described
    assert len(json.loads(moves)["walls"]) + len(json.loads(moves)["pawnMoves"]) == 132
    assert events_of(analysed)[-1]["event"]["done"]["depth"] == 4
    assert events_of(watched)[0]["event"]["seq"] == "4"


def events_of(text: str) -> list[Any]:
    return [json.loads(part) for part in re.split(r"(?<=^\})\n(?=\{)", text.strip(), flags=re.MULTILINE)]
