"""Runs ``reviewsctl sync`` at any time of a simulated month, in processes that are killed at chosen moments.

    python -m tests.support.month CONFIG < rounds

A round is a line of JSON: the time, the addresses of the platforms, and the moment of the kill, counted in
events of Python's audit hook (0 for none). The answer is a line: the events of the run, and how it ended.
Each round is a child.
"""

import datetime
import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reviewsctl.sources import readers
from reviewsctl.sources.run import RunOptions
from reviewsctl.sources.sync import Sync
from reviewsctl.sources.wire import Wire
from reviewsd.config.load import load
from reviewsd.config.source_schema import ReviewSource
from tests.support.platforms import google_reader, google_tokens, trustpilot_reader

COUNTED = {
    *("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.truncate"),
    *("os.chmod", "os.chown", "os.utime", "shutil.copyfile", "socket.connect", "fcntl.flock"),
}
"""Events at which a run may be killed."""


def sync(config: Path, order: Mapping[str, Any]) -> None:
    """Run the sources that are due, as ``reviewsctl sync --due`` does."""
    now = datetime.datetime.fromisoformat(order["now"])

    def reader(source: ReviewSource, wire: Wire, state: Path, *rest: Any) -> Any:  # noqa: ANN401
        """Make the readers of platforms with the addresses of stubs, which are on loopback."""
        local = Wire(allow_private=True, requests_left=2_000, now=lambda: now)
        match source.type:
            case "google-business":
                return google_reader(google_tokens(local, state, lambda: now, order["google"]))
            case "trustpilot":
                return trustpilot_reader(local, order["trustpilot"])
        return readers.reader(source, wire, state, *rest)

    running = Sync(
        config=load(config, {})[0],
        environ={},
        options=RunOptions(due=True),
        now=lambda: now,
        reader=reader,
    )
    for _ in running.run(()):
        pass


def attempt(config: Path, order: Mapping[str, Any]) -> tuple[int, int]:
    """Run a round in a child; returns its events, 0 if it was killed, and its exit code."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        events = 0

        def audit(event: str, _: object) -> None:
            nonlocal events
            events += event in COUNTED
            if event in COUNTED and events == order["kill"]:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(audit)
        code = 1
        try:
            sync(config, order)
            code = 0
        finally:
            os.write(writing, str(events).encode())
            os._exit(code)
    os.close(writing)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as pipe:
        return int(pipe.read() or 0), os.waitstatus_to_exitcode(status)


def main() -> None:
    """Answer each line."""
    for line in sys.stdin:
        sys.stdout.write(json.dumps(attempt(Path(sys.argv[1]), json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
