"""The cursor, parameters and errors of transactions, the same for both stores."""

import time
from collections.abc import Sequence
from typing import Any, Protocol, Self


class Numbers(list[int]):
    """Any number of integers as one parameter, for the placeholder ``MANY``."""


class Texts(list[str]):
    """Any number of texts as one parameter, for the placeholder ``MANY``."""


MANY = "(SELECT value FROM json_each(?))"
"""The placeholder after ``IN``. It keeps a statement the same for any number of values, so that it is
parsed and planned once."""

SqlValue = str | int | float | bytes | Numbers | Texts | None


class StoreError(Exception):
    """The store cannot be used now. The message is the reason, for the operator."""


class NewerSchemaError(StoreError):
    """A newer program has migrated the store, so this one must not touch it (D11)."""


class OtherKeysError(StoreError):
    """The store has secrets that this node's keys do not open, so it must not deliver (H11)."""


class SqlCursor(Protocol):
    """A cursor of a database; placeholders are ``?``."""

    @property
    def rowcount(self) -> int:
        """Number of rows that the last statement changed."""

    def execute(self, sql: str, parameters: Sequence[SqlValue] = ..., /) -> Self:
        """Run one statement."""

    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the next row of the result; None after the last."""

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return the remaining rows of the result."""


def wall_clock() -> int:
    """Return the time of this machine, milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000
