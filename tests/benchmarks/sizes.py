"""Measures how compiling, opening, memory, searches and reloads grow with the data.

    python -m tests.benchmarks.sizes [--sizes 1000,100000,1000000] [--data DIR]

Prints Markdown tables with the aims beside them (performance.md 1). Each size is measured by a process of its
own (``outside``).
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import msgspec

from tests.benchmarks.outside import Result, percentile
from tests.benchmarks.tables import table
from tests.support.generate import write_data

_NAMES = {1_000: "1k", 100_000: "100k", 1_000_000: "1m"}
_TIMES = {1_000: 5, 100_000: 3, 1_000_000: 1}
"""Repetitions of each measurement, by size; medians are shown."""


def data_set(root: Path, reviews: int) -> Path:
    """The data of a size, made where they are not there."""
    directory = root / _NAMES.get(reviews, str(reviews))
    if not (directory / "reviews.json").exists():
        write_data(directory, reviews=reviews)
    return directory


def measure(data: Path, keep: Path, times: int) -> Result:
    """The result of a size; it is not measured again where it has been kept."""
    kept = keep / f"{data.name}.json"
    if not kept.exists():
        with tempfile.TemporaryDirectory(prefix="reviewsd-sizes-") as place:
            command = [sys.executable, "-m", "tests.benchmarks.outside", str(data)]
            command += [f"{place}/daemon", "--times", str(times)]
            kept.write_bytes(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return msgspec.json.decode(kept.read_bytes(), type=Result)


def _spread(values: list[float]) -> str:
    return f"{median(values):.1f} ({min(values):.1f}..{max(values):.1f})"


def _cells(result: Result) -> dict[str, str]:
    """The figures of one size by their titles, each with its aim."""
    cells = {}
    for title, runs in result.compiling.items():
        cells[f"publishing, insights: {title}, s"] = _spread([run.seconds for run in runs])
        cells[f"... {title}, CPU s"] = _spread([run.cpu_seconds for run in runs])
        cells[f"... {title}, peak RSS MB (aim 2,048)"] = _spread([run.peak_mb for run in runs])
    return cells | {
        "start, data published before, s": _spread(result.starts),
        "RssAnon MB (aim 100)": f"{result.private:.0f}",
        "mapped files in memory, MB": f"{result.mapped:.0f}",
        "search p99 in CPU ms (aim 5; 50 for 1,000,000)": f"{max(it.p99 for it in result.classes):.1f}",
        "longest step of a search, CPU ms (aim 5)": f"{max(it.step for it in result.classes):.1f}",
        "... of the first one, CPU ms": f"{result.first_step:.1f}",
        "/healthz while publishing, p99 ms": _spread(
            [percentile(latencies, 99) for latencies in result.health]
        ),
        "... longest, ms (aim 20)": _spread(list(map(max, result.health))),
    }


def report(results: dict[int, Result]) -> str:
    """The tables."""
    columns = list(map(_cells, results.values()))
    rows = [[title, *(column[title] for column in columns)] for title in columns[0]]
    tables = [table(["", *(f"{size:,}" for size in results)], rows)]
    for size, result in results.items():
        rows = [
            [it.name, *(f"{ms:.2f}" for ms in (it.p50, it.p99, it.step)), f"`{it.worst[:60]}`"]
            for it in result.classes
        ]
        head = ["class", "p50", "p99", "longest step", "worst"]
        tables.append(f"### Searches, {size:,} reviews, ms of CPU\n\n{table(head, rows)}")
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
