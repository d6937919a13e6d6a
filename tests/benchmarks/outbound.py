"""CPU per delivery of the hub's way out: ``python -m tests.benchmarks.outbound``.

A 50 kB body goes over loopback TLS to a subscriber in another process, 64 at a time. This process's own CPU
is measured, which is steadier than rates where two cores are shared. Rounds of the kinds of connection
take turns. The aims are performance.md's: 0.65 ms with a new TLS connection, 0.1 ms on a kept one. The last
kind leaves treq out, and shows what it costs (decision 170).
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import react

from reviewsd.domain.callback import stored
from reviewsd.websub.outbound.client import CallbackClient, CallbackRequest
from reviewsd.websub.slots import Slot
from tests.support.authority import authority
from tests.support.callback_process import sink
from tests.support.outbound import Sender, free_slot, many_slots, sending

BODY = bytes(range(256)) * 196  # 50 kB
IN_FLIGHT = 64
DELIVERIES = 1_000
ROUNDS = 5


class Turns:
    """The CPU time of each turn of the reactor, in which nobody else was served."""

    def __init__(self, clock: IReactorTime) -> None:
        self.seconds: list[float] = []
        self._clock = clock
        self._used = time.process_time()
        self._call = clock.callLater(0, self._tick)

    def _tick(self) -> None:
        used = time.process_time()
        self.seconds.append(used - self._used)
        self._used = used
        self._call = self._clock.callLater(0, self._tick)

    def stop(self) -> list[float]:
        self._call.cancel()
        return sorted(self.seconds, reverse=True)


Send = Callable[[str], Coroutine[Deferred[Any], Any, int]]
"""Makes a delivery, and returns its status."""

HEADERS = b"Content-Type: application/json\r\nContent-Length: %d\r\n" % len(BODY)


def delivery(url: str, slot: Slot) -> CallbackRequest:
    return CallbackRequest(
        method="POST", callback=stored(url), slot=slot, headers=HEADERS, body=(BODY,)
    )


def through_treq(sender: Sender, clock: IReactorTime) -> Send:
    """Deliver as the hub does."""
    client, slots = CallbackClient(sender.agent, clock), many_slots()

    async def send(url: str) -> int:
        slot = free_slot(slots)
        try:
            response = await client.send(delivery(url, slot), 30)
        finally:
            slots.leave(slot)
        return int(response.code)

    return send


def without_treq(sender: Sender, clock: IReactorTime) -> Send:
    """Give the same request to the agent itself."""
    slots = many_slots()

    async def send(url: str) -> int:
        slot = free_slot(slots)
        try:
            exchange = sender.agent.request(b"POST", url.encode(), None, delivery(url, slot))
            response = await exchange.addTimeout(30, clock)
        finally:
            slots.leave(slot)
        return int(response.code)

    return send


async def deliver(send: Send, url: str, count: int) -> None:
    """Make deliveries, by workers that pull from one iterator."""
    work = iter(range(count))

    async def worker(work: Iterator[int]) -> None:
        for _ in work:
            if (status := await send(url)) != 200:
                raise RuntimeError(status)

    await gatherResults([Deferred.fromCoroutine(worker(work)) for _ in range(IN_FLIGHT)])


async def measure(clock: IReactorTime) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        ca = authority().identity.write(directory / "ca.pem")
        with sink(directory) as port:
            async with sending(ca) as sender:
                await measure_kinds(clock, sender, port)


async def measure_kinds(clock: IReactorTime, sender: Sender, port: int) -> None:
    closing, kept = f"https://127.0.0.1:{port}/closing", f"https://127.0.0.1:{port}/"
    kinds = {
        "new, resumed": (through_treq(sender, clock), closing),
        "kept": (through_treq(sender, clock), kept),
        "kept, without treq": (without_treq(sender, clock), kept),
    }
    cpu: dict[str, list[float]] = {kind: [] for kind in kinds}
    wall: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(ROUNDS):
        for kind, (send, url) in kinds.items():
            cpu_before, began_at = time.process_time(), time.perf_counter()
            await deliver(send, url, DELIVERIES)
            cpu[kind].append((time.process_time() - cpu_before) / DELIVERIES)
            wall[kind].append((time.perf_counter() - began_at) / DELIVERIES)
    write = sys.stdout.write
    write(
        "| connection | CPU ms, best, median | deliveries/s | longest turns, ms |\n|---|---|---|---|\n"
    )
    for kind, (send, url) in kinds.items():
        turns = Turns(clock)  # spins, so in a round of its own
        await deliver(send, url, DELIVERIES)
        longest = ", ".join(f"{seconds * 1000:.1f}" for seconds in turns.stop()[:5])
        best, median = min(cpu[kind]) * 1000, statistics.median(cpu[kind]) * 1000
        rate = 1 / statistics.median(wall[kind])
        write(f"| {kind} | {best:.3f}, {median:.3f} | {rate:.0f} | {longest} |\n")


if __name__ == "__main__":
    react(lambda clock: Deferred.fromCoroutine(measure(clock)))
