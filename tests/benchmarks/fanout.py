"""The hub's fan-out over TLS beside a peer's: ``python -m tests.benchmarks.fanout [--rounds 3]``.

A change of ``/feed.xml`` (50 kB) goes to verified subscribers, which answer at once, on kept connections or a
new one each. The daemon is the real one, its subscriptions are written into its store before it starts. The
peer is aiohttp under uvloop (``fanout_peer``), which stores nothing, so a crash would deliver everything again.
Both have core 0, in turn; the subscribers (``fanout_sink``) have core 1.

Subscribers live at 8 addresses of different /24 networks, so that the 16 at once that a host is granted are
not what is measured.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from tests.benchmarks.fanout_runs import Bench, Case, Run
from tests.benchmarks.tables import table

AIMS = {False: 0.2, True: 0.8}
"""CPU milliseconds of a delivery, by whether it needs a new connection."""
RATIOS = {False: 0.9, True: 1.1}
"""The aimed ratio of the CPU of aiohttp to ours."""

Pair = tuple[Run, Run]
"""One round of a case: ours, and the peer's."""

HEADINGS = (
    *("subscribers", "connections", "last after s", "aiohttp", "CPU ms each", "aim", "aiohttp"),
    *("times less", "/healthz p50 / p99 / max ms", "handshakes", "aiohttp"),
)


def figures(case: Case, pairs: Sequence[Pair]) -> list[str]:
    """A row of the table."""
    ours, theirs = zip(*pairs, strict=True)

    def middle(runs: Sequence[Run], name: str) -> float:
        return float(median(getattr(run, name) for run in runs))

    cpu = [their.cpu / our.cpu for our, their in pairs]
    health = sorted(latency for run in ours for latency in run.health)
    p50, p99 = (health[int(len(health) * part)] for part in (0.5, 0.99))
    return [
        f"{case.subscribers:,}",
        "new" if case.close else "kept",
        f"{middle(ours, 'seconds'):.2f}",
        f"{middle(theirs, 'seconds'):.2f}",
        f"{middle(ours, 'cpu'):.3f}",
        f"{AIMS[case.close]}",
        f"{middle(theirs, 'cpu'):.3f}",
        f"{median(cpu):.2f} ({min(cpu):.2f}..{max(cpu):.2f}), aim {RATIOS[case.close]}",
        f"{p50:.1f} / {p99:.1f} / {health[-1]:.1f}",
        f"{middle(ours, 'handshakes'):,.0f}",
        f"{middle(theirs, 'handshakes'):,.0f}",
    ]


def main() -> None:
    """Measure all cases and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.fanout")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--subscribers", default="5000")
    parser.add_argument("--venv", type=Path, default=Path("/tmp/w/peer"))
    arguments = parser.parse_args()
    cases = [
        Case(subscribers=subscribers, close=close)
        for subscribers in map(int, arguments.subscribers.split(","))
        for close in (False, True)
    ]
    os.sched_setaffinity(0, {1})
    rows = []
    with tempfile.TemporaryDirectory(prefix="reviewsd-fanout-") as name:
        bench = Bench(Path(name), arguments.venv)
        for case in cases:
            pairs = []
            for _ in range(arguments.rounds):
                pairs.append((bench.ours(case), bench.theirs(case)))
                sys.stderr.write(f"{case}: {pairs[-1]}\n")
            rows.append(figures(case, pairs))
    sys.stdout.write(table(HEADINGS, rows) + "\n")


if __name__ == "__main__":
    main()
