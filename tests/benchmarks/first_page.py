"""The first five minutes: ``python -m tests.benchmarks.first_page [RUNS]``, with uv on the PATH.

In an empty home, with the wheel of this checkout: from ``uvx`` to the first page, once with all
downloads and then with the packages in uv's cache but no environment yet; and from an export of Google
Takeout to the first page of the service, by the commands of ``docs/installing.md``. Seconds on the
clock, which a busy machine stretches, and seconds of processor of all that ran.
"""

import resource
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.distribution import (
    bare,
    block,
    build,
    demo,
    fetch,
    program,
    run,
    served,
    takeout,
)

RUNS = 3


def main(arguments: Sequence[str]) -> None:
    runs = int(arguments[0]) if arguments else RUNS
    uv = program("uv")
    with TemporaryDirectory(dir="/tmp") as name:
        place = Path(name)
        wheel = str(build("wheel", place / "dist"))
        environ = bare(place / "home")
        environ |= {
            "UV_CACHE_DIR": str(place / "cache"),
            "PATH": f"{environ['PATH']}:{Path(uv).parent}",
        }

        def first_page() -> float:
            folder = place / "demo"
            folder.mkdir()
            began = time.monotonic()
            command = [uv, "tool", "run", "--isolated", "--from", wheel, "reviewsd", "--demo"]
            with demo(command, folder, environ) as (address, _):
                fetch(f"{address}/")
                seconds = time.monotonic() - began
            shutil.rmtree(folder)
            return seconds

        def from_export() -> float:
            export = takeout(place / "home/Downloads/takeout.zip")
            began = time.monotonic()
            *before, _ = block("With uv or pipx", "reviewsctl init").splitlines()
            run("bash", "-euc", "\n".join(before), cwd=place, env=environ)
            with served([place / "home/.local/bin/reviewsd"], place / "shop", environ) as address:
                fetch(f"{address}/")
                seconds = time.monotonic() - began
            shutil.rmtree(place / "shop")
            export.unlink()
            return seconds

        show("uvx, with all downloads", [timed(first_page)])
        show("uvx, downloads done", [timed(first_page) for _ in range(runs)])
        run(uv, "tool", "install", "-q", wheel, env=environ)
        environ["PATH"] = f"{place}/home/.local/bin:{environ['PATH']}"
        show("from an export to the first page", [timed(from_export) for _ in range(runs)])


def timed(what: Callable[[], float]) -> tuple[float, float]:
    """Seconds on the clock to the first page, and of processor until its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    clock = what()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def show(what: str, found: list[tuple[float, float]]) -> None:
    clock, processor = zip(*found, strict=True)
    print(  # noqa: T201
        f"{what}: {min(clock):.1f} to {max(clock):.1f} s on the clock, "
        f"{min(processor):.1f} to {max(processor):.1f} s of processor"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
