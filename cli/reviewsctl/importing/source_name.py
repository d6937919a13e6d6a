"""Where the reviews of a table were written: a column, an option or the operator says it, the first time."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from reviewsctl.importing.errors import SayMoreError
from reviewsctl.importing.options import ImportOptions, Prompts
from reviewsctl.importing.recognize import Export
from reviewsctl.importing.reviews_file import EXAMPLES
from reviewsctl.importing.settings import NO_SOURCE

DEFAULT: Final = "website"
"""The answer to the question that a key press gives, and ``--yes`` for the first reviews."""


class _Review(msgspec.Struct):
    id: str = ""
    source: str = ""


class _File(msgspec.Struct):
    reviews: list[_Review] = []


def named_source(
    options: ImportOptions, exports: Sequence[Export], prompts: Prompts
) -> ImportOptions:
    """Return the options with the source of a table that does not say its own.

    A sync is not asked, and neither is an owner whose file has reviews without a source already.

    Raises:
        SayMoreError: Nothing says it, and there is no terminal to ask at.
    """
    unnamed = [
        export.name
        for export in exports
        for source in export.sources
        if not export.format.names_source(source.head, options.settings)
    ]
    known = _known_sources(options.target)
    if not unnamed or options.synced is not None or NO_SOURCE in known:
        return options
    if options.yes and not known:
        name = DEFAULT
    elif prompts.source is not None:
        name = prompts.source(DEFAULT)
    else:
        raise SayMoreError(
            f"nothing says where the reviews of {unnamed[0]} were written",
            f"Say it: --source {DEFAULT} if customers wrote them to you, or a platform, as --source google; "
            "--map source=COLUMN if a column has it."
            + (f" The reviews that are there are of {', '.join(sorted(known))}." if known else ""),
        )
    return replace(options, settings=replace(options.settings, source=name))


def _known_sources(target: Path) -> set[str]:
    """Return the sources of the reviews of a reviews.json; ``NO_SOURCE`` is that of tables without any."""
    try:
        file = msgspec.json.decode(target.read_bytes(), type=_File)
    except (OSError, msgspec.MsgspecError):  # a faulty file is refused where it is merged
        return set()
    return {review.source for review in file.reviews if review.id not in EXAMPLES}
