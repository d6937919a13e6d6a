"""Where the reviews of a table were written: a column, an option or the operator says it, the first time."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from reviewsctl.importing.errors import SayMoreError
from reviewsctl.importing.options import ImportOptions, Prompts
from reviewsctl.importing.platforms.columns import columns_of
from reviewsctl.importing.recognize import Export
from reviewsctl.importing.scales import platform_of
from reviewsctl.importing.settings import NO_SOURCE, Settings
from reviewsd.api.platforms import PLATFORMS, source_of

DEFAULT: Final = "website"
"""The answer to the question that a key press gives, and ``--yes`` for the first reviews."""


def named_source(
    options: ImportOptions,
    exports: Sequence[Export],
    prompts: Prompts,
    known: Collection[str],
) -> ImportOptions:
    """Return the options with the sources that there are, and that of a table that does not say its own.

    A sync is not asked, and neither is an owner whose file has reviews without a source already: ``NO_SOURCE`` is then
    known.

    Raises:
        SayMoreError: Nothing says it, and there is no terminal to ask at.
    """
    unnamed = [
        export.name
        for export in exports
        for source in export.sources
        if not export.format.names_source(source.head, options.settings)
    ]
    sources = {name.casefold(): name for name in known} | {name: name for name in known}
    options = replace(options, settings=replace(options.settings, sources=sources))
    origin = origin_of(exports, options.settings)
    if not unnamed or options.synced is not None or NO_SOURCE in known:
        return options
    if options.yes and not known:
        name = origin or DEFAULT
    elif prompts.source is not None:
        name = prompts.source(origin or DEFAULT)
    else:
        columns = f"; it has the columns of {PLATFORMS[origin]}" if origin else ""
        there = f"{options_of(origin)} if they were written there; " if origin else ""
        raise SayMoreError(
            f"nothing says where the reviews of {unnamed[0]} were written{columns}",
            f"Say it: {there}--source {DEFAULT} if customers wrote them to you, or a platform, as --source google; "
            "--map source=COLUMN if a column has it."
            + (f" The reviews that are there are of {', '.join(sorted(known))}." if known else ""),
        )
    return replace(options, settings=replace(options.settings, source=name))


def origin_of(exports: Sequence[Export], settings: Settings) -> str:
    """Return the platform whose columns the tables have that do not say their own; "" if there is none, or several."""
    unnamed = replace(settings, source=None)
    titles = {
        platform_of(columns_of(source.head))
        for export in exports
        for source in export.sources
        if not export.format.names_source(source.head, unnamed)
    }
    source = source_of(titles.pop()) if len(titles) == 1 else ""
    return source if source in PLATFORMS else ""


def notes_of_verified(unsaid: int, origin: str, *, others_are: bool) -> list[str]:
    """Return the note on reviews that count as unchecked because an option was left out.

    Args:
        unsaid: The number of reviews of which neither the export nor an option says whether they are of customers.
        origin: The platform whose columns the tables have; on these only guests write.
        others_are: Whether reviews of the source that are there are verified.
    """
    if not unsaid or not (origin or others_are):
        return []
    why = (
        f"only customers write on {PLATFORMS[origin]}"
        if origin
        else "others of the source are verified"
    )
    return [f"not verified: {unsaid:,}, though {why}; if they are of customers: --set verified=yes"]


def options_of(origin: str) -> str:
    """Return the options for a table of a platform; on those that are known by their columns only guests write."""
    return f"--source {origin} --set verified=yes"
