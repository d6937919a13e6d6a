"""Whether work takes time in proportion to its input, measured: some of it, and eight times as much.

What backtracks, or looks back for each byte, takes 64 times as long for that. CPU time, the least of
some rounds, so that a busy machine changes little.
"""

from collections.abc import Callable
from time import process_time

Thunk = Callable[[], object]
Making = Callable[[int], Thunk]
"""Work on an input of so many bytes, which is ready when it begins."""

MEASURABLE = 0.0005  # seconds of CPU; less says nothing
LARGEST = 1 << 20  # of the sizes tried: what is not measurable there is quick enough
TIMES = 8  # as much input, which takes eight times as long, or 64 times
SQUARE = 24.0  # lies between the two, with room for caches on one side and fixed cost on the other


def cpu(work: Thunk, rounds: int = 2) -> float:
    """Seconds of CPU time, the least of some rounds."""
    least = float("inf")
    for _ in range(rounds):
        began = process_time()
        work()
        least = min(least, process_time() - began)
    return least


def assert_linear(making: Making) -> None:
    """Pass work that grows with its input.

    Noise costs another look. So does a step, where more input first needs another kind of memory: it
    comes once, where a square comes again with ``TIMES`` as much once more.
    """
    size = _measurable(making)
    if size is None:
        return
    grown = [_growth(making, size)]
    for larger in (size, TIMES * size, size, TIMES * size):
        if grown[-1] < SQUARE:
            return
        grown.append(_growth(making, larger))
    assert min(grown) < SQUARE


def _measurable(making: Making) -> int | None:
    """The least size that takes long enough; None where none does."""
    size = 512
    while cpu(making(size), 1) < MEASURABLE:
        size *= 2
        if size > LARGEST:
            return None
    return size


def _growth(making: Making, size: int) -> float:
    """Return how many times as long an input ``TIMES`` as large takes."""
    return cpu(making(TIMES * size)) / cpu(making(size))
