"""Limits of an export, which comes from strangers: a larger one is refused.

Tables are read as a stream, and JSON is in memory as it is written; what strangers give stays below ``MEMORY``.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from reviewsd.api.places import KEPT_FOLDER

MEMORY: Final = 448 * 1024 * 1024
"""Bytes of data of the process, beside the owner's own files (``bounded_memory``)."""

MAX_RECORD: Final = 2 * 1024 * 1024
"""Characters of one row of a table; the largest review has some thousands."""

MAX_COLUMNS: Final = 1_000
"""Columns of a table; those of platforms have fifty."""

MAX_LAYOUT: Final = 16
"""Levels of JSON in which lists of reviews are searched; the known formats have five."""

SHEET_MEMORY: Final = 384 * 1024 * 1024
"""Bytes of data of the process that reads a workbook; 100,000 rows of 16 columns take 150 MB."""

SHEET_CPU_SECONDS: Final = 20
"""CPU time of that process; 100,000 rows take 4."""

MAX_SAMPLE: Final = 16 * 1024 * 1024
"""Bytes, about, of the rows that guesses look at."""

MAX_USELESS: Final = 100_000
"""Rows that are no reviews, if nine of ten are not, before an export counts as something else."""

MAX_UNPACKED: Final = 8 * 1024 * 1024
"""Bytes that any archive may unpack to, unless it lies in another one."""

MAX_RATIO: Final = 40
"""Ratio of the unpacked to the packed size of an archive; that of reviews is five to twenty."""


@contextlib.contextmanager
def bounded_memory(target: Path) -> Iterator[None]:
    """Limit the memory of this process meanwhile, so that too large an import ends with a MemoryError.

    reviews.json and its import log are in memory beside the export.
    """
    import resource  # only a command needs it

    files = (target, target.parent / KEPT_FOLDER / "imports.json")
    own = sum(file.stat().st_size for file in files if file.is_file())
    before, hard = resource.getrlimit(resource.RLIMIT_DATA)
    memory = MEMORY + 2 * own
    limit = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, hard))
