"""CPU per delivery of the hub's way out: ``python -m tests.benchmarks.outbound``.

A 50 kB body goes over loopback TLS to a subscriber in another process, 64 at a time. What is counted
is this process's own CPU, which is steadier than rates where two cores are shared. Rounds of the
kinds of connection take turns. The aims are performance.md's: 0.65 ms with a new TLS connection,
0.1 ms on a kept one. The last kind sends the same deliveries through treq (decision 19): treq's POST
over an IAgent that does what ``deliver`` does.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator
from http.cookiejar import DefaultCookiePolicy
from pathlib import Path
from typing import Any

from treq.client import HTTPClient
from treq.cookies import IndexableCookieJar
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import react
from twisted.web.http_headers import Headers
from twisted.web.iweb import IAgent, IResponse
from zope.interface import implementer

from reviewsd.domain.callback import Callback
from reviewsd.websub.outbound.client import BufferedResponse, CallbackClient
from reviewsd.websub.outbound.outcomes import Answered
from tests.support.authority import authority
from tests.support.callback_process import sink
from tests.support.outbound import callback, calling, free_slot, push

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


Send = Callable[[Callback], Coroutine[Deferred[Any], Any, int]]
"""One delivery; its status."""


def directly(client: CallbackClient) -> Send:
    """As the hub delivers."""
    content = push(BODY)

    async def send(to: Callback) -> int:
        outcome = await client.deliver(to, content, timeout=30, slot=free_slot())
        if not isinstance(outcome, Answered):
            raise TypeError(str(outcome))
        return outcome.status

    return send


@implementer(IAgent)
class Agent:
    """``deliver`` for treq."""

    def __init__(self, send: Send, to: Callback) -> None:
        self._send = send
        self._to = to

    def request(self, *_: object) -> Deferred[IResponse]:
        """See IAgent."""
        return Deferred.fromCoroutine(self._request())

    async def _request(self) -> IResponse:
        return BufferedResponse(
            Answered(status=await self._send(self._to), headers={}, body=b"", address="")
        )


def through_treq(client: CallbackClient, to: Callback, clock: IReactorTime) -> Send:
    """The same behind treq's POST, with one HTTPClient for all."""
    fields = Headers({b"Content-Type": [b"application/json"]})
    agent = Agent(directly(client), to)
    over = HTTPClient(agent, cookiejar=IndexableCookieJar(DefaultCookiePolicy(allowed_domains=())))

    async def send(to: Callback) -> int:
        response = await over.post(
            to.url,
            data=BODY,
            headers=fields,
            allow_redirects=False,
            unbuffered=True,
            reactor=clock,  # type: ignore[arg-type]  # asks for more than it uses
        )
        return int(response.code)

    return send


async def deliver(send: Send, to: Callback, count: int) -> None:
    """So many deliveries, by workers that pull from one iterator."""
    work = iter(range(count))

    async def worker(work: Iterator[int]) -> None:
        for _ in work:
            if (status := await send(to)) != 200:
                raise RuntimeError(status)

    await gatherResults([Deferred.fromCoroutine(worker(work)) for _ in range(IN_FLIGHT)])


async def measure(clock: IReactorTime) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        ca = authority().identity.write(directory / "ca.pem")
        with sink(directory) as port:
            async with calling(ca) as client:
                await measure_kinds(clock, client, port)


async def measure_kinds(clock: IReactorTime, client: CallbackClient, port: int) -> None:
    closing = callback(f"https://127.0.0.1:{port}/closing")
    kept = callback(f"https://127.0.0.1:{port}/")
    kinds = {
        "new, resumed": (directly(client), closing),
        "kept": (directly(client), kept),
        "kept, through treq": (through_treq(client, kept, clock), kept),
    }
    cpu: dict[str, list[float]] = {kind: [] for kind in kinds}
    wall: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(ROUNDS):
        for kind, (send, to) in kinds.items():
            used, began = time.process_time(), time.perf_counter()
            await deliver(send, to, DELIVERIES)
            cpu[kind].append((time.process_time() - used) / DELIVERIES)
            wall[kind].append((time.perf_counter() - began) / DELIVERIES)
    say = sys.stdout.write
    say(
        "| connection | CPU ms, best, median | deliveries/s | longest turns, ms |\n|---|---|---|---|\n"
    )
    for kind, (send, to) in kinds.items():
        turns = Turns(clock)  # spins, so in a round of its own
        await deliver(send, to, DELIVERIES)
        longest = ", ".join(f"{each * 1000:.1f}" for each in turns.stop()[:5])
        best, median = min(cpu[kind]) * 1000, statistics.median(cpu[kind]) * 1000
        rate = 1 / statistics.median(wall[kind])
        say(f"| {kind} | {best:.3f}, {median:.3f} | {rate:.0f} | {longest} |\n")


if __name__ == "__main__":
    react(lambda clock: Deferred.fromCoroutine(measure(clock)))
