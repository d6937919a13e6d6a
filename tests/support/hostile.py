"""Attacks of subscribers on the hub, and their cost: ``python -m tests.support.hostile``.

The attacker is another process, so that only the hub's side is measured. The command runs all attacks
under the real limits and prints the table; the tests run them under shorter timeouts.
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

from tests.support.authority import Identity, authority, self_signed
from tests.support.callback_process import Kind, sink
from tests.support.callbacks import HOST, NAMES
from tests.support.descriptors import open_descriptors
from tests.support.outbound import Missing, Outcome, Received, Sender, reactor, sending

Attempt = Callable[[Sender], Coroutine[Deferred[Any], Any, Outcome]]
"""A verification or a delivery."""

VERIFY_SECONDS, DELIVER_SECONDS = 15.0, 30.0  # E12

PATHS = (
    *("/headers", "/long-header", "/fold", "/interims", "/body", "/chunks", "/trailers"),
    *("/gzip-bomb", "/gzip-silence", "/silence", "/drip", "/reset", "/broken", "/deaf"),
    *("/long/2000", "/status/302"),
)
"""Attacks of a subscriber with valid TLS."""


@dataclass(frozen=True, slots=True)
class Stranger:
    """A subscriber with invalid TLS."""

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
    """The result of an attack, and its cost."""

    outcome: Outcome
    seconds: float
    megabytes: float
    """Growth of the peak of this process's memory."""
    leftovers: int
    """File descriptors and delayed calls that are still there."""


def verifying(url: str, seconds: float = VERIFY_SECONDS) -> Attempt:
    """Return a verification with a timeout."""
    return lambda sender: sender.verify(f"{url}?hub.challenge=x", seconds=seconds)


def delivering(url: str, seconds: float = DELIVER_SECONDS) -> Attempt:
    """Return a delivery with a timeout."""
    return lambda sender: sender.deliver(url, bytes(50_000), seconds=seconds)


async def cost(ca_file: Path, attempt: Attempt) -> Cost:
    """Make one attempt with a sender of its own, and measure it."""
    leftovers_before = leftovers()
    async with sending(ca_file) as sender:
        before = _memory(reset=True)
        began_at = time.perf_counter()
        outcome = await attempt(sender)
        seconds = time.perf_counter() - began_at
        await deferLater(reactor, 0.01)  # what follows it, follows at once
        growth = (_memory() - before) / 1_000
    return Cost(outcome, seconds, growth, leftovers() - leftovers_before)


def leftovers() -> int:
    """Return the number of file descriptors and delayed calls."""
    return len(open_descriptors()) + len(reactor.getDelayedCalls())


def _memory(*, reset: bool = False) -> int:
    """Return the peak of this process's memory in kB, since the last reset."""
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
    cells, count = [name], 0
    for attempt in (verifying(url), delivering(url)):
        result = await cost(ca_file, attempt)
        count += result.leftovers
        cells += [describe(result.outcome), f"{result.seconds:.2f}", f"{result.megabytes:.1f}"]
    sys.stdout.write("| " + " | ".join([*cells, str(count)]) + " |\n")
    sys.stdout.flush()


def describe(outcome: Outcome) -> str:
    """Return an outcome in a few words."""
    if isinstance(outcome, Received):
        return f"{outcome.status}, {len(outcome.body)} bytes"
    return outcome.reason if isinstance(outcome, Missing) else outcome


if __name__ == "__main__":
    react(lambda _: Deferred.fromCoroutine(main()))
