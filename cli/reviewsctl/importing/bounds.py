"""How much an export may take: it comes from strangers, and what is more than this is none.

Everything is read as a stream; these are the pieces of it that have to be in memory, and what may come
out of an archive. An import stays below ``MEMORY`` whatever its size.
"""

from typing import Final

MEMORY: Final = 448 * 1024 * 1024
"""Bytes of data of the process; an import of a million reviews takes a fifth."""

MAX_RECORD: Final = 2 * 1024 * 1024
"""Characters of one row, value or string; the largest review has some thousands."""

MAX_AROUND: Final = 2 * MAX_RECORD
"""Characters of what JSON has beside its rows."""

MAX_COLUMNS: Final = 1_000
"""Of a table; those of platforms have fifty."""

MAX_LAYOUT: Final = 16
"""Levels of JSON in which lists of reviews are looked for; the formats known have five."""

MAX_ARRAYS: Final = 8
"""Arrays of JSON directly in one another."""

SHEET_MEMORY: Final = 384 * 1024 * 1024
"""Bytes of data of the process that reads a workbook; 100,000 rows of 16 columns take 150 MB."""

SHEET_CPU_SECONDS: Final = 20
"""CPU time of that process; 100,000 rows take 4."""

MAX_SAMPLE: Final = 16 * 1024 * 1024
"""Bytes, about, of the rows that guesses look at."""

MAX_USELESS: Final = 100_000
"""Rows that are no reviews, where nine of ten are not: then it is something else."""

MAX_UNPACKED: Final = 8 * 1024 * 1024
"""Bytes that any archive may unpack to, unless it lies in another one."""

MAX_RATIO: Final = 40
"""How many times its size an archive may unpack to; reviews become five to twenty times smaller."""

MAX_NAME: Final = 4096
"""Characters of a member's name; the longest path of Linux."""


def bound_memory() -> None:
    """End what takes more than an import may as a MemoryError, not with the whole machine."""
    import resource  # only a command needs it

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limits = [each for each in (soft, hard) if each != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min([MEMORY, *limits]), hard))
