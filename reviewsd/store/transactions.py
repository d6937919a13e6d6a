"""What a transaction works with, whichever store runs it, and how a store fails."""

import time
from collections.abc import Sequence
from typing import Any, Protocol, Self


class Numbers(list[int]):
    """Any number of integers as one parameter, in the place of ``MANY``."""


class Texts(list[str]):
    """The same of texts."""


MANY = "(SELECT value FROM json_each(?))"
"""What stands behind ``IN``. So a statement is always the same, and parsed and planned once."""

SqlValue = str | int | float | bytes | Numbers | Texts | None


class StoreError(Exception):
    """The store cannot be used now; the text says why, for the operator."""


class NewerSchemaError(StoreError):
    """A newer program has migrated the store: this one must not touch it (D11)."""


class OtherKeysError(StoreError):
    """Other nodes seal with keys that this one does not have: it must not deliver (H11)."""


class SqlCursor(Protocol):
    """What a transaction works with; placeholders are ``?``."""

    @property
    def rowcount(self) -> int:
        """The rows that the last statement has changed."""

    def execute(self, sql: str, parameters: Sequence[SqlValue] = ..., /) -> Self:
        """Run one statement."""

    def executemany(self, sql: str, parameters: Sequence[Sequence[SqlValue]], /) -> Self:
        """Run one statement for each of the parameter rows."""

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row of the result."""

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows of the result that are left."""


def wall_clock() -> int:
    """This machine's, milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000
