"""Attacks of subscribers on the hub, and what they cost it: ``python -m tests.support.hostile``.

The attacker is another process, so that what is measured is the hub's side alone. The command runs
all attacks under the real limits and prints the table; the tests run them under shorter timeouts.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater, react

from reviewsd.websub.outbound.client import CallbackClient
from reviewsd.websub.outbound.outcomes import Answered, AttemptOutcome, Unanswered
from tests.support.authority import Identity, authority, self_signed
from tests.support.callback_process import Kind, sink
from tests.support.callbacks import HOST, NAMES
from tests.support.descriptors import open_descriptors
from tests.support.outbound import callback, calling, free_slot, push, reactor

Attempt = Callable[[CallbackClient], Coroutine[Deferred[Any], Any, AttemptOutcome]]
"""One of the two things that the hub does to a callback."""

VERIFY_SECONDS, DELIVER_SECONDS = 15.0, 30.0  # E12

PATHS = (
    *("/headers", "/long-header", "/fold", "/interims", "/body", "/chunks", "/trailers"),
    *("/gzip-bomb", "/gzip-silence", "/silence", "/drip", "/reset", "/broken", "/deaf"),
    *("/long/2000", "/status/302"),
)
"""Of a subscriber whose TLS is as it should be."""


@dataclass(frozen=True, slots=True)
class Stranger:
    """A subscriber whose TLS is not as it should be."""

    name: str
    identity: Callable[[], Identity]
    kind: Kind = Kind.USUAL


STRANGERS = (
    Stranger("wrong host", partial(authority().issue, "other.example.com")),
    Stranger("self-signed", partial(self_signed, *NAMES)),
    Stranger("expired", partial(authority().issue, *NAMES, expired=True)),
    Stranger("TLS 1.1 only", partial(authority().issue, *NAMES), Kind.OLD),
    Stranger("no TLS at all", partial(authority().issue, *NAMES), Kind.MUTE),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What an attack has come to."""

    outcome: AttemptOutcome
    seconds: float
    megabytes: float
    """By which the peak of the process's memory has grown."""
    left: int
    """File descriptors and delayed calls that are there since."""


def verifying(url: str, seconds: float = VERIFY_SECONDS) -> Attempt:
    """A verification, within so many seconds."""
    asked = callback(url).adding("hub.challenge=x")
    return lambda client: client.verify(asked, timeout=seconds, slot=free_slot())


def delivering(url: str, seconds: float = DELIVER_SECONDS) -> Attempt:
    """A delivery, within so many seconds."""
    content = push(bytes(50_000))
    return lambda client: client.deliver(callback(url), content, timeout=seconds, slot=free_slot())


async def cost(ca_file: Path, attempt: Attempt) -> Cost:
    """Make one attempt with a client of its own, and count."""
    left = leftovers()
    async with calling(ca_file) as client:
        before = _memory(reset=True)
        began = time.perf_counter()
        outcome = await attempt(client)
        seconds = time.perf_counter() - began
        await deferLater(reactor, 0.01)  # what follows it, follows at once
        grown = (_memory() - before) / 1_000
    return Cost(outcome, seconds, grown, leftovers() - left)


def leftovers() -> int:
    """File descriptors and delayed calls."""
    return len(open_descriptors()) + len(reactor.getDelayedCalls())


def _memory(*, reset: bool = False) -> int:
    """The peak of this process's memory, in kB, perhaps from now on."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


async def main() -> None:
    sys.stdout.write("| attack | verify: outcome | s | MB | deliver: outcome | s | MB | left |\n")
    sys.stdout.write("|---|---|---|---|---|---|---|---|\n")
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        ca_file = authority().identity.write(directory / "ca.pem")
        with sink(directory) as port:
            for path in ("/", *PATHS):
                await _row(ca_file, path, f"https://{HOST}:{port}{path}")
        for stranger in STRANGERS:
            with sink(directory, stranger.identity(), stranger.kind) as port:
                await _row(ca_file, stranger.name, f"https://{HOST}:{port}/")


async def _row(ca_file: Path, name: str, url: str) -> None:
    cells, left = [name], 0
    for attempt in (verifying(url), delivering(url)):
        found = await cost(ca_file, attempt)
        left += found.left
        cells += [_words(found.outcome), f"{found.seconds:.2f}", f"{found.megabytes:.1f}"]
    sys.stdout.write("| " + " | ".join([*cells, str(left)]) + " |\n")
    sys.stdout.flush()


def _words(outcome: AttemptOutcome) -> str:
    if isinstance(outcome, Answered):
        return f"{outcome.status}, {len(outcome.body)} bytes"
    return outcome.reason if isinstance(outcome, Unanswered) else "crowded"


if __name__ == "__main__":
    react(lambda _: Deferred.fromCoroutine(main()))
