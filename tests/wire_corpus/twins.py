"""Two daemons that nobody can tell apart: one answers on the fast lane, the other by Klein alone."""

import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.daemon import Daemon

SETTINGS = """\
data: {{poll_interval: 60, insights: file}}
hub: {{limits: {{requests_per_minute: 1000000}}}}
server:
  fast_lane: {fast}
  header_deadline: {patience}
  body_deadline: {patience}
  requests_per_connection: {requests}
"""

_TOLD = (
    *("published", "serving", "notify systemd", "to be delivered", "stopping", "reload asked for"),
    *("MCP was refused", "in the last minute"),
)
"""What their logs may have lines about."""


class Twins(NamedTuple):
    """Of the same data, keys and age."""

    fast: Daemon
    plain: Daemon

    def edit(self, name: str, change: Callable[[Any], None]) -> None:
        """Change a file of both, and have both publish it in the same second: it is served."""
        for _ in range(9):
            for each in self:
                document = json.loads((each.data / name).read_bytes())
                change(document)
                (each.data / name).write_text(json.dumps(document))
            time.sleep(1.02 - time.time() % 1)  # just after the beginning of a second
            reloads = [threading.Thread(target=each.reload) for each in self]
            for thread in reloads:
                thread.start()
            for thread in reloads:
                thread.join()
            if len({each.get(f"/{name}").headers["Last-Modified"] for each in self}) == 1:
                return
        raise AssertionError("they never published in the same second")


@contextmanager
def twins(directory: Path, requests: int = 1_000, patience: float = 10) -> Iterator[Twins]:
    """A pair, to which nothing may happen that is worth more than a word in their logs.

    Args:
        directory: Of theirs alone.
        requests: That one connection may bring.
        patience: Seconds for a head, and for a body.
    """
    pair = []
    for name in ("fast", "plain"):
        (directory / name).mkdir()
        settings = SETTINGS.format(
            fast=str(name == "fast").lower(), requests=requests, patience=patience
        )
        pair.append(Daemon(directory / name, settings))
    first, second = pair
    first.start()  # whose publication and keys become those of both
    first.stop()
    shutil.copytree(first.state, second.state, symlinks=True)
    with first, second:
        yield Twins(first, second)
        for each in pair:
            unusual = [line for line in each.lines if not any(word in line for word in _TOLD)]
            assert not unusual, unusual
