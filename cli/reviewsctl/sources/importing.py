"""The options of the import of a source's files."""

import datetime
from collections.abc import Sequence
from pathlib import Path

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.options import ImportOptions, SyncedRead
from reviewsctl.importing.settings import SETTINGS, parsed
from reviewsctl.sources.faults import SourceStoppedError
from reviewsd.config.source_schema import ReviewSource


def import_options(
    source: ReviewSource,
    *,
    exports: Sequence[Path],
    target: Path,
    now: datetime.datetime,
    dry_run: bool,
    synced: SyncedRead | None,
) -> ImportOptions:
    """Return the options of an import.

    Raises:
        SourceStoppedError: The configuration has an option that means nothing.
    """
    section = source.import_
    words = {True: "yes", False: "no"}
    pairs = [
        f"{name}={words.get(value, value)}"
        for name in SETTINGS
        if (value := getattr(section, name)) is not None
    ]
    pairs += [f"public={column}={value}" for column, value in section.public.items()]
    columns = [f"{name}={column}" for name, column in section.map.items()]
    try:
        settings = parsed(pairs, now, columns=columns, source=section.source)
    except ImportRefusedError as fault:
        raise SourceStoppedError(f"import: {fault.detail}", fault.remedy) from fault
    return ImportOptions(
        exports=exports,
        target=target,
        format_name=section.from_,
        settings=settings,
        replace=source.gone != "keep",
        yes=False,
        dry_run=dry_run,
        now=now,
        synced=synced,
    )
