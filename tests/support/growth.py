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


def growth(making: Making) -> float:
    """How many times as long ``TIMES`` as much takes."""
    size = 512
    while cpu(making(size), 1) < MEASURABLE:
        size *= 2
        if size > LARGEST:
            return 0.0
    return cpu(making(TIMES * size)) / cpu(making(size))


def assert_linear(making: Making) -> None:
    """Pass work that grows with its input; noise costs another look."""
    grown = [growth(making)]
    while grown[-1] > SQUARE and len(grown) < 3:
        grown.append(growth(making))
    assert min(grown) < SQUARE
