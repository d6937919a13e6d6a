"""What sets one kind of export apart from the others: names that only its rows have together."""

from dataclasses import dataclass
from typing import Literal, Protocol

Shape = Literal["table", "json"]

RECOGNISED = 1.0
"""The likeness of an export that is of the kind."""

FORCED = 0.5
"""What ``--from NAME`` needs: some columns may have been left out by hand."""


class Names(Protocol):
    """The beginning of a file, as far as a signature looks at it."""

    @property
    def shape(self) -> Shape:
        """How the file is written."""
        ...

    def has(self, *names: str) -> bool:
        """Return whether the first rows have all of these names."""
        ...


@dataclass(frozen=True, slots=True)
class Signature:
    """Names of the rows, without regard to case; ``a.b`` is the member b of the object a.

    Called with a head, it returns the share of its names that are there: ``RECOGNISED`` for all of
    them, less where a name is there that only another kind has.
    """

    needs: tuple[str, ...]
    """Each has to be there; ``a|b`` is either."""
    lacks: tuple[str, ...] = ()
    """Names of another kind that has all of these too."""
    shape: Shape | None = None
    """None where both occur."""

    def __call__(self, head: Names) -> float:
        """How much of it is there, 0 to 1."""
        if self.shape not in (None, head.shape):
            return 0.0
        there = sum(any(head.has(each) for each in need.split("|")) for need in self.needs)
        foreign = sum(head.has(name) for name in self.lacks)
        return there / (len(self.needs) + foreign)
