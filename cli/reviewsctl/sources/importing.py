"""The options of the import of a source's files."""

import datetime
from collections.abc import Sequence
from pathlib import Path

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.options import ImportOptions, SyncedRead
from reviewsctl.importing.publicity.judge import Publicity
from reviewsctl.importing.ratings import Scale
from reviewsctl.importing.settings import Settings, zone
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
    try:
        timezone = zone(section.timezone)
        settings = Settings(
            columns=section.map,
            source=section.source,
            date_format=section.date_format,
            scale=Scale.parsed(section.scale, recommended=section.recommended),
            publicity=Publicity.parsed(
                [f"{column}={value}" for column, value in section.public.items()]
            ),
            verified=section.verified,
            names=section.names,
            timezone=timezone,
            today=now.astimezone(timezone).date(),
            location=section.location,
            name=section.name,
        )
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
