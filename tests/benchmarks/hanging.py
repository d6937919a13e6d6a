"""Healthy callbacks beside many that hang: ``python -m tests.benchmarks.hanging``.

The daemon is the real one with its default limits of deliveries. Callbacks at many hosts, in few or many
address networks, are subscribed; then the data changes, and all but five of them read the delivery and
do not answer. The time until the five have it is measured from the change: in this fan-out, in which
the hanging callbacks are still unknown, and in the next one.
"""

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.accounts import memory
from tests.support.daemon import Daemon, until
from tests.support.subscriber import (
    LoggedRequest,
    Reply,
    Subscriber,
    ask,
    good,
    hub,
    settings,
    until_open,
)

HEALTHY = 5
LIMITS = {
    "requests_per_minute": 1_000_000,
}


@dataclass(frozen=True, slots=True)
class Case:
    """The number of hanging callbacks, and their addresses."""

    hosts: int
    networks: int
    callbacks_per_host: int
    """Callbacks at each host."""
    hang: bool = True
    """Whether the callbacks hang; otherwise they answer, for comparison."""
    among: bool = False
    """Whether the healthy ones are in the same networks."""

    @property
    def addresses(self) -> list[str]:
        return [
            f"127.{1 + n % self.networks // 250}.{n % self.networks % 250}.{n // self.networks + 1}"
            for n in range(self.hosts)
        ]

    @property
    def healthy(self) -> list[str]:
        if not self.among:
            return [f"127.200.{n}.1" for n in range(HEALTHY)]
        first = self.addresses[: self.networks]
        return [
            f"{first[n % self.networks].rpartition('.')[0]}.{250 - n // self.networks}"
            for n in range(HEALTHY)
        ]


CASES = (
    Case(100, 4, 1),
    Case(100, 100, 1),
    Case(100, 100, 10),
    Case(500, 500, 1),
    Case(500, 500, 1, hang=False),
    Case(100, 4, 1, among=True),
    Case(140, 1, 1, among=True),
    Case(240, 1, 1, among=True),
    Case(250, 250, 4),
    Case(250, 250, 4, hang=False),
)


def silent_hangs(request: LoggedRequest) -> Reply | None:
    """Confirm each callback of ``/hang``, and then send nothing."""
    hangs = request.method == "POST" and request.path.startswith("/hang")
    return None if hangs else good(request)


def latencies(daemon: Daemon, subscriber: Subscriber, round_: int) -> list[float]:
    """Change the data; return the seconds from the first delivery to each healthy subscriber's."""
    requests_before = len(subscriber.log)
    daemon.edit(name=f"Changed {round_}")
    until(
        lambda: any(request.method == "POST" for request in subscriber.log[requests_before:]),
        "a delivery",
    )
    began = next(
        request.at for request in subscriber.log[requests_before:] if request.method == "POST"
    )
    paths = [f"/healthy{n}" for n in range(HEALTHY)]
    until(
        lambda: all(len(subscriber.deliveries(path)) >= round_ for path in paths),
        "the healthy ones",
        120,
    )
    return sorted(subscriber.deliveries(path)[round_ - 1].at - began for path in paths)


def hanging(case: Case) -> str:
    """A row of the table."""
    with tempfile.TemporaryDirectory(prefix="hanging-") as name:
        directory = Path(name)
        healthy = case.healthy
        names = [*case.addresses, *healthy]
        answer = silent_hangs if case.hang else good
        with Subscriber(directory, "0.0.0.0", answer, names=names) as subscriber:
            usual = {"retry_delays": [60, 1800]}
            daemon = Daemon(directory, settings(subscriber.ca_file, limits=LIMITS, delivery=usual))
            with daemon:
                until_open(daemon)
                for number in range(case.callbacks_per_host):
                    for host in case.addresses:
                        until(lambda: hub(daemon)["pending"] < 200, "room for another request")
                        url = subscriber.url(f"/hang{number}", host)
                        assert ask(daemon, url).status == 202
                for number, host in enumerate(healthy):
                    assert ask(daemon, subscriber.url(f"/healthy{number}", host)).status == 202
                total = case.callbacks_per_host * case.hosts + HEALTHY
                until(lambda: hub(daemon)["active"] == total, "the subscriptions", 300)
                pid = daemon.process.pid
                before = memory(pid, "VmRSS")
                first = latencies(daemon, subscriber, 1)
                grown = memory(pid, "VmRSS") - before
                time.sleep(31)  # the time of a delivery
                second = latencies(daemon, subscriber, 2)
        return (
            f"| {case.hosts * case.callbacks_per_host * case.hang} of {case.hosts * case.callbacks_per_host}"
            f" at {case.hosts} hosts in {case.networks} network{'s' * (case.networks > 1)}"
            f"{', theirs too' * case.among} "
            f"| {first[-1]:.1f} | {second[-1]:.1f} | {grown:.0f} |"
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.hanging")
    parser.add_argument("--cases", default="0,1,2,3,4,5,6,7,8,9")
    arguments = parser.parse_args()
    sys.stdout.write(
        "| hang | last healthy one, s | in the next fan-out | MB |\n|---|---|---|---|\n"
    )
    for index in map(int, arguments.cases.split(",")):
        sys.stdout.write(hanging(CASES[index]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
