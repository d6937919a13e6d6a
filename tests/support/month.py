"""Runs ``reviewsctl sync`` at any time of a simulated month, in processes that are killed at chosen moments.

    python -m tests.support.month CONFIG < rounds

A round is a line of JSON: the time, the addresses of the platforms, and the moment of the kill, counted in
events of Python's audit hook (0 for none). The answer is a line: the events of the run, and how it ended.
Each round is a child that is forked before Twisted's reactor is installed.
"""

import datetime
import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from twisted.internet import task
from twisted.internet.defer import ensureDeferred

from reviewsctl.sources import readers
from reviewsctl.sources.google import GoogleReader
from reviewsctl.sources.oauth import Client, GoogleTokens
from reviewsctl.sources.run import RunOptions
from reviewsctl.sources.sync import Sync
from reviewsctl.sources.tokens import TokenFile
from reviewsctl.sources.trustpilot import TrustpilotReader
from reviewsctl.sources.wire import Wire
from reviewsd.config.load import load
from reviewsd.config.source_schema import ReviewSource
from tests.support.sources import PROMPTS

COUNTED = {
    *("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.truncate"),
    *("os.chmod", "os.chown", "os.utime", "shutil.copyfile", "socket.connect", "fcntl.flock"),
}
"""Events at which a run may be killed."""


def sync(config: Path, order: Mapping[str, Any]) -> None:
    """Run the sources that are due, as ``reviewsctl sync --due`` does."""
    now = datetime.datetime.fromisoformat(order["now"])

    async def run(reactor: Any) -> None:  # noqa: ANN401  # interfaces of a reactor, which are many
        def reader(source: ReviewSource, wire: Wire, state: Path, *rest: Any) -> Any:  # noqa: ANN401
            """Make the readers of platforms with the addresses of stubs, which are on loopback."""
            wire = readers.wire(
                replace(source, allow_private=True), wire.budget, reactor, lambda: now
            )
            match source.type:
                case "google-business":
                    tokens = GoogleTokens(
                        wire,
                        Client("id", "s3cret"),
                        TokenFile(state, source.name),
                        source.name,
                        lambda: now,
                        order["google"],
                    )
                    return GoogleReader(wire, tokens, "accounts/1/locations/2", order["google"])
                case "trustpilot":
                    return TrustpilotReader(
                        wire, "harbor.example", "k3y", "s3cret", order["trustpilot"]
                    )
            return readers.reader(source, wire, state, *rest)

        running = Sync(
            config=load(config, {})[0],
            environ={},
            prompts=PROMPTS,
            options=RunOptions(),
            reactor=reactor,
            now=lambda: now,
            reader=reader,
        )
        async for _ in running.run((), due=True):
            pass

    task.react(lambda reactor: ensureDeferred(run(reactor)))


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
        except SystemExit as ended:
            code = int(ended.code or 0)
        finally:
            os.write(writing, str(events).encode())
            os._exit(code)
    os.close(writing)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as pipe:
        return int(pipe.read() or 0), os.waitstatus_to_exitcode(status)


def main() -> None:
    """Answer each line."""
    assert "twisted.internet.reactor" not in sys.modules
    for line in sys.stdin:
        sys.stdout.write(json.dumps(attempt(Path(sys.argv[1]), json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
