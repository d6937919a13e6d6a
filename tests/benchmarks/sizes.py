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


def _cells(within: inside.Result, without: outside.Result) -> dict[str, str]:
    """The figures of one size by their titles, each with its aim."""
    compiling = without.compiling
    return {
        "publishing, s": _spread([run.seconds for run in compiling]),
        "... CPU s": _spread([run.cpu_seconds for run in compiling]),
        "... peak RSS MB (aim 2,048)": _spread([run.peak_mb for run in compiling]),
        "start, data published before, s": _spread(without.starts),
        "RssAnon MB (aim 100)": f"{without.private:.0f}",
        "mapped files in memory, MB": f"{without.mapped:.0f}",
        "search p99 in CPU ms (aim 5; 50 for 1,000,000)": _worst(within, lambda it: it.cpu),
        "longest step of a search, CPU ms (aim 5)": _worst(within, lambda it: it.step_cpu),
        "... of the first one, ms": f"{within.first_touch:.1f}",
        "gap at a swap, ms (aim 20)": _spread(within.swaps),
        "/healthz while publishing, p99 ms": _spread(
            [inside.percentile(latencies, 99) for latencies in without.health]
        ),
        "... longest, ms": _spread(list(map(max, without.health))),
    }


def report(results: dict[int, Measured]) -> str:
    """The tables."""
    columns = [_cells(*measured) for measured in results.values()]
    rows = [[title, *(column[title] for column in columns)] for title in columns[0]]
    tables = [table(["", *(f"{size:,}" for size in results)], rows)]
    for size, (within, _) in results.items():
        rows = [
            [
                it.name,
                str(it.samples),
                *(f"{ms:.2f}" for ms in (it.p50, it.longest, it.cpu, it.step, it.step_cpu)),
                f"`{it.worst[:60]}`",
            ]
            for it in within.classes
        ]
        head = ["class", "n", "p50", "max", "CPU p99", "step", "step CPU", "worst"]
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
