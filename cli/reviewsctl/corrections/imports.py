"""Corrections in imports and exports: erased reviews are skipped, hidden ones not exported (C5, C8)."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from reviewsctl.corrections.files import FILE
from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.review import Entry
from reviewsctl.terminal.words import counted

if TYPE_CHECKING:
    from reviewsd.domain.corrections import Overlay

SKIPPED: Final = "erased (reviewsctl reviews erase)"
"""The reason in the report of an import."""


class KnownCorrections:
    """The corrections of a data directory.

    Args:
        folder: The directory.

    Raises:
        ImportRefusedError: corrections.json is invalid, and an erased review could return.
    """

    def __init__(self, folder: Path) -> None:
        self._overlay: Overlay | None = None
        self.corrected = 0
        """The number of imported reviews that stay hidden or anonymous."""
        path = folder / FILE
        if path.exists():
            self._read(path)

    def _read(self, path: Path) -> None:
        from reviewsd.domain.corrections import Overlay  # 0.1 s, see main
        from reviewsd.domain.data_errors import DataError
        from reviewsd.offline.corrections import parse

        try:
            self._overlay = Overlay(parse(path.read_bytes()))
        except DataError as error:
            raise ImportRefusedError(
                "; ".join(error.lines()),
                "Fix or restore corrections.json: without it erased reviews would return.",
            ) from error

    def shown(self, text: bytes) -> bytes | None:
        """Return the public form of a review, or None if it is hidden.

        Raises:
            msgspec.MsgspecError: The review is invalid.
        """
        if self._overlay is None:
            return text
        from reviewsd.domain.corrected import shown  # see ``_read``

        return shown(text, self._overlay)

    def notes(self) -> list[str]:
        """Return the notes for the report of an import."""
        if not self.corrected:
            return []
        return [f"{counted(self.corrected, 'review')} stay{'s' * (self.corrected == 1)} corrected"]

    def is_erased(self, entry: Entry) -> bool:
        """Return whether a review of an export was erased; count other corrections."""
        if self._overlay is None:
            return False
        from reviewsd.domain.reviews import Review  # see ``_read``

        correction = self._overlay.find(msgspec.json.decode(entry.record, type=Review))
        action = "restore" if correction is None else correction.action
        self.corrected += action not in ("erase", "restore")
        return action == "erase"
