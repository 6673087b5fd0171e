"""Real servers: `CORRIDOR_BINARY` names the program."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional

import pytest

import corridor


def binary() -> str:
    found = os.environ.get("CORRIDOR_BINARY")
    if not found:
        pytest.fail("CORRIDOR_BINARY must name the program `corridor`")
    return found


def environment() -> dict[str, str]:
    """Away from the settings of whoever runs the tests."""
    return {name: value for name, value in os.environ.items() if not name.startswith("CORRIDOR_")}


class Server:
    """A process of the binary."""

    def __init__(self, *arguments: str) -> None:
        command = [binary(), *arguments]
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment()
        )
        self.said: list[str] = []
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._news:
                self.said.append(line)
                self._news.notify_all()

    def line(self, word: str) -> str:
        """Waits for a line with a word in it."""
        with self._news:
            found = self._news.wait_for(lambda: [line for line in self.said if word in line], 60)
        assert found, f"no '{word}' in {self.said}"
        return found[0].strip()

    def address(self) -> str:
        return self.line("listening on").rsplit("http://", 1)[1]

    def end(self, number: signal.Signals) -> None:
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.wait(30)
        self._reader.join(30)
        assert self.process.stderr is not None
        self.process.stderr.close()


def coordinator(store: Optional[Path], listen: str = "127.0.0.1:0") -> Server:
    stored = ["--store", str(store)] if store else []
    return Server("coordinator", "--listen", listen, "--http", "127.0.0.1:0", *stored)


def worker(address: str) -> Server:
    place = ["--coordinator", f"http://{address}", "--http", "127.0.0.1:0"]
    return Server("worker", *place, "--threads", "1", "--hash", "4M", "--name", "anna")


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A cluster with a store."""
    store = tmp_path_factory.mktemp("store") / "corridor.db"
    ports = ["--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"]
    server = Server("serve", *ports, "--workers", "1", "--store", str(store))
    yield server.address()
    server.end(signal.SIGKILL)


@pytest.fixture
def client(address: str) -> Iterator[corridor.Client]:
    with corridor.Client(address, timeout=30) as client:
        yield client


def command_line(*arguments: str) -> list[Any]:
    """The JSON lines that a command prints."""
    command = [binary(), *arguments, "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=120, check=True)
    return [json.loads(line) for line in ran.stdout.splitlines()]
