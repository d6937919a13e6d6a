"""A soak: a mixed load with reloads, and whether the daemon grows under it.

    python -m tests.benchmarks.soak [--minutes 10] [--data DIR]

Visitors (``soak_clients``) read, search, call tools, subscribe, pipeline, read slowly, leave in the
middle and send what is no HTTP, at a moderate rate; every answer is checked. Every 20 seconds other data
are published and pushed to a subscriber on this machine. Every 5 seconds the sizes of the daemon and of
the processes it keeps are taken. Growth is the slope of a straight line through the second half of them,
where it is more than chance: over twice its standard error, and over what is tolerated.
"""

import argparse
import math
import shutil
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields
from functools import partial, reduce
from itertools import count, pairwise
from operator import add
from pathlib import Path
from statistics import linear_regression, mean, pstdev

from tests.benchmarks.accounts import Sizes, age, cpu, family, sizes
from tests.benchmarks.inside import change
from tests.benchmarks.outside import Patient
from tests.benchmarks.sizes import data_set
from tests.benchmarks.soak_clients import VISITORS, Visitor, subscriber
from tests.support.daemon import Daemon
from tests.support.subscriber import Subscriber, until_open, until_settled

_SAMPLE = 5.0  # seconds
_RELOAD = 20.0  # seconds
_HUB = 1.0  # seconds between two requests to the hub
_LASTING = 10.0  # seconds; a younger child publishes
_SHOWN = 40  # rows of the table
_TOLERATED = {"rss": 1024, "private": 1024, "anonymous": 1024, "descriptors": 5, "threads": 1}
"""The tolerated rise of a figure over the second half; kB and counts."""

_SETTINGS = """\
data:
  poll_interval: 3600
hub:
  min_interval: 0
  limits:
    requests_per_minute: 100000
  callbacks:
    allow_networks: ["127.0.0.0/8"]
    ca_file: {ca}
"""


class Load:
    """The visitors, each in a thread of its own; a visitor starts over after a fault."""

    def __init__(self, visitors: Sequence[tuple[Callable[[], Visitor], float]]) -> None:
        self.done: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._visit, args=visitor) for visitor in visitors]
        for thread in self._threads:
            thread.start()

    def _visit(self, begin: Callable[[], Visitor], pause: float) -> None:
        visitor = begin()
        while not self._stopping.wait(pause):
            try:
                self.done[next(visitor)] += 1
            except (AssertionError, OSError, LookupError, ValueError):
                self.wrong.append(traceback.format_exc())
                visitor = begin()

    def stop(self) -> None:
        """End all visits."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()


def visitors(
    port: int, callback: Callable[[int], str]
) -> list[tuple[Callable[[], Visitor], float]]:
    """Return the factory of each visitor, and the pause between its actions."""
    factories: list[tuple[Callable[[], Visitor], float]] = [
        (partial(kind, port), pause)
        for kind, (number, pause) in VISITORS.items()
        for _ in range(number)
    ]
    return [*factories, (partial(subscriber, port, callback), _HUB)]


@dataclass(frozen=True, slots=True)
class Sample:
    """The measurements of one moment."""

    at: float
    """Seconds from the beginning."""
    sizes: Sizes
    processes: int
    requests: int
    cpu: float
    """Seconds of CPU of these processes until then."""


def sample(pid: int, began: float, load: Load) -> Sample:
    """The sizes of the daemon and its lasting children, in all."""
    lasting = [process for process in family(pid) if process == pid or age(process) > _LASTING]
    process_sizes = [sizes(process) for process in lasting]
    return Sample(
        at=time.monotonic() - began,
        sizes=reduce(add, process_sizes),
        processes=len(process_sizes),
        requests=load.done.total(),
        cpu=sum(map(cpu, lasting)),
    )


def soak(running: Daemon, load: Load, minutes: float) -> tuple[list[Sample], int]:
    """The samples, and how often other data were published."""
    assert running.process is not None
    samples: list[Sample] = []
    began = time.monotonic()
    editions = count(1)
    reload_at, published = _RELOAD, 0
    while (now := time.monotonic() - began) < 60 * minutes:
        if now >= reload_at:
            reload_at += _RELOAD
            change(running.data, next(editions))
            outcome = running.reload()["outcome"]
            assert outcome == "published", outcome
            published += 1
        samples.append(sample(running.process.pid, began, load))
        time.sleep(max(0.0, len(samples) * _SAMPLE - (time.monotonic() - began)))
    return samples, published


def report(samples: Sequence[Sample]) -> tuple[str, bool]:
    """The tables, and whether something grows."""
    names = [size.name for size in fields(Sizes)]
    lines = ["| s | requests/s | CPU % | processes | " + " | ".join(names) + " |"]
    lines.append("|" + " --- |" * (4 + len(names)))
    step = max(1, len(samples) // _SHOWN)
    selected = samples[::step]
    for before, current in pairwise(selected):
        seconds = current.at - before.at
        cells = [
            f"{current.at:.0f}",
            f"{(current.requests - before.requests) / seconds:,.0f}",
            f"{100 * (current.cpu - before.cpu) / seconds:.0f}",
            str(current.processes),
            *(f"{getattr(current.sizes, name):,}" for name in names),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "| | mean, 1st half | mean, 2nd half | a minute | in the 2nd half | |"]
    lines.append("|" + " --- |" * 6)
    half = len(samples) // 2
    grows = False
    for name in names:
        values = [float(getattr(sample_.sizes, name)) for sample_ in samples]
        times = [sample_.at for sample_ in samples[half:]]
        slope, start = linear_regression(times, values[half:])
        rise = slope * (times[-1] - times[0])
        rest = [value - start - slope * at for at, value in zip(times, values[half:], strict=True)]
        error = pstdev(rest) * math.sqrt(12 / len(rest))
        more = rise > max(_TOLERATED[name], 2 * error)
        grows |= more
        cells = [f"{mean(part):,.0f}" for part in (values[:half], values[half:])]
        cells += [
            f"{60 * slope:+,.1f}",
            f"{rise:+,.0f} ± {error:,.0f}",
            "**grows**" if more else "flat",
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines), grows


def main() -> None:
    """Soak, and print the tables; the exit code says whether all was well."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.soak")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--data", type=Path, default=Path("/tmp/w/data"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="reviewsd-soak-") as name, ExitStack() as stack:
        place = Path(name)
        (place / "d").mkdir()
        shutil.copytree(data_set(arguments.data, 1_000), place / "d" / "data")
        subscribing = stack.enter_context(Subscriber(place))
        settings = _SETTINGS.format(ca=subscribing.ca_file)
        running = stack.enter_context(Patient(place / "d", settings))
        until_open(running)
        load = Load(visitors(running.port, lambda number: subscribing.url(f"/callback/{number}")))
        try:
            samples, published = soak(running, load, arguments.minutes)
        finally:
            load.stop()
        until_settled(running)
        pushed = sum(request.method == "POST" for request in subscribing.log)
        code = running.stop()
        log = running.log.read_text()
    table, grows = report(samples)
    done = ", ".join(f"{count:,} {what}" for what, count in load.done.most_common())
    sys.stdout.write(
        f"{table}\n\nDone: {done}; {published} reloads, {pushed:,} deliveries.\n"
        f"Wrong answers: {len(load.wrong)}. Tracebacks in the log: {log.count('Traceback')}."
        f" Exit code: {code}.\n"
    )
    for fault, many in Counter(load.wrong).most_common(5):
        sys.stdout.write(f"\n{many} x {fault}")
    if "Traceback" in log:
        sys.stdout.write(log[log.index("Traceback") - 200 :][:4_000])
    sys.exit(bool(grows or load.wrong or code or "Traceback" in log))


if __name__ == "__main__":
    main()
