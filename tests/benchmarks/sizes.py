"""Measures how compiling, opening, memory, searches and reloads grow with the data.

    python -m tests.benchmarks.sizes [--sizes 1000,100000,1000000] [--data DIR]

Prints Markdown tables with the aims beside them (performance.md 1). One heavy process at a
time: the two halves, ``inside`` and ``outside``, run one after the other for each size.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TypeVar

import msgspec

from tests.benchmarks import inside, outside
from tests.benchmarks.tables import table
from tests.support.generate import write_data

_NAMES = {1_000: "1k", 100_000: "100k", 1_000_000: "1m"}
_TIMES = {1_000: 5, 100_000: 3, 1_000_000: 1}
"""Repetitions of each measurement, by size; medians are shown."""

T = TypeVar("T")


def data_set(root: Path, reviews: int) -> Path:
    """The data of a size, made where they are not there."""
    directory = root / _NAMES.get(reviews, str(reviews))
    if not (directory / "reviews.json").exists():
        write_data(directory, reviews=reviews)
    return directory


def run(result_file: Path, module: str, kind: type[T], *arguments: object) -> T:
    """One half, in a process of its own; not again where its result has been kept."""
    command = [sys.executable, "-m", f"tests.benchmarks.{module}", *map(str, arguments)]
    if not result_file.exists():
        result_file.write_bytes(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return msgspec.json.decode(result_file.read_bytes(), type=kind)


Measured = tuple[inside.Result, outside.Result]


def measure(data: Path, keep: Path, times: int) -> Measured:
    """Both halves of one size."""
    with tempfile.TemporaryDirectory(prefix="reviewsd-sizes-") as place:
        copy = Path(place, "data")
        shutil.copytree(data, copy)
        state = Path(place, "state")
        within = run(
            keep / f"inside-{data.name}.json",
            *("inside", inside.Result, copy, state, "--reloads", times),
        )
        shutil.rmtree(copy)
        shutil.rmtree(state, ignore_errors=True)
        without = run(
            keep / f"outside-{data.name}.json",
            *("outside", outside.Result, data, Path(place, "daemon"), "--times", times),
        )
    return within, without


def _spread(values: list[float]) -> str:
    return f"{median(values):.1f} ({min(values):.1f}..{max(values):.1f})"


def _worst(result: inside.Result, value: Callable[[inside.Class], float]) -> str:
    slowest = max(result.classes, key=value)
    return f"{value(slowest):.1f} ({slowest.name})"


ROWS: list[tuple[str, str, Callable[[inside.Result, outside.Result], str]]] = [
    ("compiling, s", "", lambda _, o: _spread([run_.seconds for run_ in o.compiling])),
    ("compiling, CPU s", "", lambda _, o: _spread([run_.cpu_seconds for run_ in o.compiling])),
    (
        "compiling, peak RSS MB",
        "< 2,048 (unit)",
        lambda _, o: _spread([run_.peak_mb for run_ in o.compiling]),
    ),
    ("opening a snapshot, ms", "", lambda i, _: _spread(i.opening)),
    ("first scan, longest step, ms", "", lambda i, _: f"{i.first_touch:.1f}"),
    ("start to READY, nothing published, s", "", lambda _, o: f"{o.start_empty:.1f}"),
    ("start to READY, unchanged, s", "", lambda _, o: _spread(o.start_unchanged)),
    ("private memory at start, MB", "< 100", lambda _, o: f"{o.memory_start:.0f}"),
    ("... after 2,000 searches, MB", "< 100", lambda _, o: f"{o.memory_searched:.0f}"),
    ("... after reloads, MB", "< 100", lambda _, o: _spread(o.memory_reloaded)),
    ("mapped files resident, MB", "shared", lambda _, o: f"{o.mapped:.0f}"),
    (
        "search p99, worst class, ms",
        "< 5 (100k), < 50 (1m)",
        lambda i, _: _worst(i, lambda class_: class_.cold[1]),
    ),
    ("... in CPU time, ms", "", lambda i, _: _worst(i, lambda class_: class_.cpu)),
    (
        "longest step of any search, ms",
        "< 5 (1m)",
        lambda i, _: _worst(i, lambda class_: class_.step),
    ),
    ("... in CPU time, ms", "< 5 (1m)", lambda i, _: _worst(i, lambda class_: class_.step_cpu)),
    ("reload: seconds", "", lambda i, _: _spread([reload.seconds for reload in i.reloads])),
    (
        "reload stall, gap at the swap, ms",
        "< 20",
        lambda i, _: _spread([reload.swap for reload in i.reloads]),
    ),
    ("... refresh() alone, ms", "", lambda i, _: _spread([reload.refresh for reload in i.reloads])),
    (
        "... longest gap of the whole reload, ms",
        "< 20",
        lambda i, _: _spread([reload.longest for reload in i.reloads]),
    ),
    (
        "... longest gap without a reload, ms",
        "the neighbors",
        lambda i, _: _spread([reload.idle for reload in i.reloads]),
    ),
    (
        "/healthz at 200/s in a reload: p99, ms",
        "",
        lambda _, o: _spread([probe.p99 for probe in o.health]),
    ),
    ("... longest, ms", "", lambda _, o: _spread([probe.longest for probe in o.health])),
    (
        "... longest without a reload, ms",
        "the neighbors",
        lambda _, o: _spread([probe.idle_longest for probe in o.health]),
    ),
    ("search at the door, median of 2,000, ms", "", lambda _, o: f"{o.search_ms:.2f}"),
]


def report(results: dict[int, Measured]) -> str:
    """The tables."""
    sizes = [f"{size:,}" for size in results]
    main = [
        [name, *(value(*measured) for measured in results.values()), aim]
        for name, aim, value in ROWS
    ]
    tables = [table(["", *sizes, "aim"], main)]
    for size, (within, _) in results.items():
        rows = [
            [
                class_.name,
                str(class_.samples),
                *(f"{value:.2f}" for value in (*class_.cold, class_.cpu, class_.step)),
                f"{class_.step_cpu:.2f}",
                f"`{class_.worst[:60]}`",
            ]
            for class_ in within.classes
        ]
        head = [
            "class",
            "n",
            "p50",
            "p99",
            "max",
            "CPU p99",
            "step",
            "step CPU",
            "worst",
        ]
        tables.append(f"### Searches, {size:,} reviews, ms\n\n{table(head, rows)}")
    return "\n\n".join(tables)


def main() -> None:
    """Measure all sizes and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.sizes")
    parser.add_argument("--sizes", default="1000,100000,1000000")
    parser.add_argument("--data", type=Path, default=Path("/tmp/w/data"))
    parser.add_argument("--keep", type=Path, help="directory for results; those there are taken")
    arguments = parser.parse_args()
    keep = arguments.keep or Path(tempfile.mkdtemp(prefix="reviewsd-results-"))
    keep.mkdir(parents=True, exist_ok=True)
    results = {}
    for size in map(int, arguments.sizes.split(",")):
        results[size] = measure(data_set(arguments.data, size), keep, _TIMES.get(size, 1))
        sys.stderr.write(f"{size:,} done\n")
    sys.stdout.write(report(results) + "\n")


if __name__ == "__main__":
    main()
