"""Runs ``reviewsctl sync`` at any time of a simulated month, in processes that are killed at chosen moments.

    python -m tests.support.month CONFIG < rounds

A round is a line of JSON: the time, the addresses of the platforms, and the moment of the kill, counted in
events of Python's audit hook (0 for none). The answer is a line: the events of the run, and how it ended.
Each round is a child.
"""

import datetime
import json
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from reviewsctl.sources import readers
from reviewsctl.sources.run import RunOptions
from reviewsctl.sources.sync import Sync
from reviewsctl.sources.wire import Wire
from reviewsd.config.load import load
from reviewsd.config.source_schema import ReviewSource
from tests.support import killing
from tests.support.platforms import google_reader, google_tokens, trustpilot_reader

COUNTED = {
    *("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.truncate"),
    *("os.chmod", "os.chown", "os.utime", "shutil.copyfile", "socket.connect", "fcntl.flock"),
}
"""Events at which a run may be killed."""


def sync(config: Path, order: Mapping[str, Any]) -> None:
    """Run the sources that are due, as ``reviewsctl sync --due`` does."""
    now = datetime.datetime.fromisoformat(order["now"])

    def reader(source: ReviewSource, wire: Wire, state: Path, *rest: Any) -> Any:
        """Make the readers of platforms with the addresses of stubs, which are on loopback."""
        local = Wire(allow_private=True, requests_left=2_000, now=lambda: now)
        match source.type:
            case "google-business":
                return google_reader(google_tokens(local, state, lambda: now, order["google"]))
            case "trustpilot":
                return trustpilot_reader(local, order["trustpilot"])
        return readers.reader(source, wire, state, *rest)

    running = Sync(
        config=load(config, {}).config,
        environ={},
        options=RunOptions(due=True),
        now=lambda: now,
        reader=reader,
    )
    for _ in running.run(()):
        pass


def main() -> None:
    """Answer each line."""
    for line in sys.stdin:
        order = json.loads(line)
        ended = killing.run(partial(sync, Path(sys.argv[1]), order), order["kill"], COUNTED)
        sys.stdout.write(json.dumps(ended) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
