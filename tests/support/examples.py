"""The number of examples that Hypothesis tries: few in the usual run, more on request.

``REVIEWSD_EXAMPLES=20 .venv/bin/pytest tests/unit`` tries twenty times as many.
"""

import os

from hypothesis import settings

USUAL = 40
"""The number of examples of a test that names no number."""

_TIMES = float(os.environ.get("REVIEWSD_EXAMPLES", "1"))


def examples(count: int) -> settings:
    """Settings for a test of which each example is dear, or needs more than others."""
    return settings(max_examples=number(count))


def number(count: int) -> int:
    """Return the number of examples for a test that usually tries ``count``."""
    return max(1, round(count * _TIMES))


def stride(step: int) -> int:
    """Return the step between tries for a test that usually skips ``step``."""
    return max(1, round(step / _TIMES))


def spread(total: int, count: int, offset: int = 0) -> list[int]:
    """About so many of ``range(total)`` where all are too many, evenly, the first and the last among them.

    Another offset gives others between.
    """
    step = max(1, total // number(count))
    return sorted({0, *range(offset % step, total, step), total - 1})
