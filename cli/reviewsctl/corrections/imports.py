"""What imports and exports have to know of corrections: erased reviews are not taken, hidden ones not given (C5, C8)."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from reviewsctl.corrections.files import FILE
from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.options import reviews
from reviewsctl.importing.review import Entry

if TYPE_CHECKING:
    from reviewsd.domain.corrections import Overlay

SKIPPED: Final = "erased (reviewsctl reviews erase)"
"""The reason that is counted."""


class KnownCorrections:
    """The corrections of a data directory.

    Args:
        folder: The directory.

    Raises:
        ImportRefusedError: corrections.json cannot be read, so that an erased review might come back.
    """

    def __init__(self, folder: Path) -> None:
        self._overlay: Overlay | None = None
        self.corrected = 0
        """Reviews that were taken, and stay hidden or anonymous."""
        path = folder / FILE
        if path.exists():
            self._read(path)

    def _read(self, path: Path) -> None:
        from reviewsd.domain.corrections import Overlay  # 0.1 s, see main
        from reviewsd.domain.data_errors import DataError
        from reviewsd.offline.corrections import parsed

        try:
            self._overlay = Overlay(parsed(path.read_bytes()))
        except DataError as error:
            raise ImportRefusedError(
                "; ".join(error.lines()),
                "Mend corrections.json, or put it back: without it erased reviews would return.",
            ) from error

    def shown(self, text: bytes) -> bytes | None:
        """Return a review of the file as readers see it, or None if they do not.

        Raises:
            msgspec.MsgspecError: It is no valid review.
        """
        if self._overlay is None:
            return text
        from reviewsd.domain.corrected import shown  # see ``_read``

        return shown(text, self._overlay)

    def notes(self) -> list[str]:
        """Return what the operator is told."""
        if not self.corrected:
            return []
        return [f"{reviews(self.corrected)} stay{'s' * (self.corrected == 1)} corrected"]

    def is_erased(self, entry: Entry) -> bool:
        """Return whether a review of an export was erased; count it if it is corrected otherwise."""
        if self._overlay is None:
            return False
        from reviewsd.domain.reviews import Review  # see ``_read``

        correction = self._overlay.find(msgspec.json.decode(entry.record, type=Review))
        is_erased = correction is not None and correction.action == "erase"
        self.corrected += correction is not None and not is_erased
        return is_erased
