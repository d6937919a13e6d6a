"""Google Takeout in several parts: ``takeout-20261121T070000Z-001.zip``, ``-002.zip`` and so on.

Reviews of one location may lie in any part, so that none of them alone says what is gone.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from reviewsctl.importing.import_log import PastImport

# a browser puts " (1)" behind a name that is there already; unpacked, it is a folder
_NAME: Final = re.compile(
    r"(takeout-[0-9]{8}T[0-9]{6}Z(?:-[0-9]{1,3})?)-([0-9]{3})(?: \([0-9]{1,3}\))?(?:\.(?:zip|tgz))?"
)


class PartName(NamedTuple):
    """The name of one part."""

    takeout: str
    """The beginning that the names of all parts share."""
    number: int
    """From 1."""


def part_name(path: Path) -> PartName | None:
    """Return what the name of an export says of it; None if it is no part of a Takeout."""
    match = _NAME.fullmatch(path.name)
    return None if match is None else PartName(match[1], int(match[2]))


def numbers(exports: Iterable[Path]) -> dict[str, set[int]]:
    """Return the numbers of the parts of each Takeout among some exports."""
    parts: defaultdict[str, set[int]] = defaultdict(set)
    for name in filter(None, map(part_name, exports)):
        parts[name.takeout].add(name.number)
    return parts


def missing(exports: Sequence[Path], imports: Sequence[PastImport]) -> list[str]:
    """Return the names of parts that are known of and not among the exports.

    A part is known of by the number of another one, by the files beside the exports, and by earlier
    imports.
    """
    named = numbers(exports)
    beside = numbers(
        path
        for folder in {export.absolute().parent for export in exports}
        for path in _list(folder)
    )
    return [
        f"{takeout}-{number:03}.zip"
        for takeout, parts in named.items()
        for number in sorted(_known(takeout, parts, beside, imports) - parts)
    ]


def _known(
    takeout: str,
    parts: set[int],
    beside: Mapping[str, set[int]],
    imports: Sequence[PastImport],
) -> set[int]:
    imported = {number for past in imports for number in past.takeouts.get(takeout, ())}
    known = parts | beside.get(takeout, set()) | imported
    return known | set(range(1, max(known)))


def _list(folder: Path) -> list[Path]:
    """Return what is in a folder, as far as its name may be that of a part."""
    try:
        return list(folder.glob("takeout-*"))
    except OSError:
        return []
