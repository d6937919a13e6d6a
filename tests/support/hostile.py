"""Attacks of subscribers on the hub, and their cost.

The attacker is another process, so that only the hub's side is measured.
"""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater

from tests.support.descriptors import open_descriptors
from tests.support.outbound import Outcome, Sender, reactor, sending

Attempt = Callable[[Sender], Coroutine[Deferred[Any], Any, Outcome]]
"""A verification or a delivery."""

VERIFY_SECONDS, DELIVER_SECONDS = 15.0, 30.0  # E12


@dataclass(frozen=True, slots=True)
class Cost:
    """The result of an attack, and its cost."""

    outcome: Outcome
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
        outcome = await attempt(sender)
        await deferLater(reactor, 0.01)  # what follows it, follows at once
        growth = (_memory() - before) / 1_000
    return Cost(outcome, growth, leftovers() - leftovers_before)


def leftovers() -> int:
    """Return the number of file descriptors and delayed calls."""
    return len(open_descriptors()) + len(reactor.getDelayedCalls())


def _memory(*, reset: bool = False) -> int:
    """Return the peak of this process's memory in kB, since the last reset."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
