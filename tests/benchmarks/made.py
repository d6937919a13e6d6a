"""Measures what insights made from the reviews add to a publication (insights.md 1 and 9).

    python -m tests.benchmarks.made [--sizes 100000] [--data /tmp/w/made] [--rounds 3]

The real publishing process, with ``data.insights: file`` and ``auto`` in turn: from nothing, and again with
ten texts changed all over the file. CPU seconds of the process, user and system, and its peak memory from the
kernel's account of it; the best of the rounds, as other work on the machine only ever makes a round slower.
"""

import argparse
import multiprocessing
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from reviewsd.publish.messages import Job, PublicationOrder
from tests.benchmarks.outside import Compiling, publish
from tests.support.columns import SETTINGS
from tests.support.generate import write_data

_CHANGED = 10
_MODES = ("file", "auto")
_spawning = multiprocessing.get_context("spawn")


def change(source: Path, target: Path, number: int) -> None:
    """Write the same reviews with other texts in ten of them."""
    content = source.read_bytes()
    mark = b'"text":"' if b'"text":"' in content else b'"text": "'
    parts = content.split(mark)
    step = len(parts) // _CHANGED
    for index in range(1, len(parts), step):
        parts[index] = b"Changed %d. %b" % (number, parts[index])
    aside = target.with_suffix(".new")
    aside.write_bytes(mark.join(parts))
    aside.replace(target)


def measure(source: Path, place: Path, mode: str, rounds: int) -> Iterator[tuple[str, Compiling]]:
    """The costs of the first publication and of those after it."""
    data = place / "data"
    data.mkdir()
    order = PublicationOrder(
        data_dir=str(data),
        snapshots=str(place / "state" / "snapshots"),
        settings=SETTINGS,
        max_bytes=1 << 31,
        insights="auto" if mode == "auto" else "file",
    )
    job = Job(order=order, version="1", now=1_760_000_000.0)
    shutil.copy(source, data / "reviews.json")
    yield "first", publish(job)
    for number in range(rounds):
        # in a process of its own: a process begins with the peak of the one that started it
        editing = _spawning.Process(target=change, args=(source, data / "reviews.json", number))
        editing.start()
        editing.join()
        yield "ten changed", publish(job)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="100000")
    parser.add_argument("--data", type=Path, default=Path("/tmp/w/made"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--modes", default=",".join(_MODES))
    options = parser.parse_args()
    for size in map(int, options.sizes.split(",")):
        folder = options.data / str(size)
        if not folder.exists():
            write_data(folder, reviews=size, insights=False)
        for mode in options.modes.split(","):
            best: dict[str, Compiling] = {}
            with TemporaryDirectory(dir=options.data) as place:
                costs = measure(folder / "reviews.json", Path(place), mode, options.rounds)
                for what, cost in costs:
                    best[what] = min(cost, best.get(what, cost), key=lambda one: one.cpu_seconds)
            for what, cost in best.items():
                sys.stdout.write(
                    f"{size:>9,} {mode:5} {what:12} {cost.cpu_seconds:7.1f} s CPU {cost.seconds:7.1f} s "
                    f"{cost.peak_mb:7.0f} MB\n"
                )
                sys.stdout.flush()


if __name__ == "__main__":
    main()
