"""The options of the import of a source's files."""

import datetime
import zoneinfo
from collections.abc import Sequence
from pathlib import Path

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.format import Columns, Rules
from reviewsctl.importing.options import ImportOptions, SyncedRead
from reviewsctl.importing.publicity.judge import Publicity
from reviewsctl.importing.ratings import Scale
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
    given = source.import_
    zone: datetime.tzinfo
    try:
        is_utc = given.timezone.upper() == "UTC"
        zone = datetime.UTC if is_utc else zoneinfo.ZoneInfo(given.timezone)
        scale = Scale.parsed(given.scale, recommended=given.recommended)
        publicity = Publicity.parsed(
            [f"{column}={value}" for column, value in given.public.items()]
        )
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as fault:
        raise SourceStoppedError(
            f"import.timezone: there is no time zone {given.timezone}",
            "They are named like Europe/Berlin.",
        ) from fault
    except ImportRefusedError as fault:
        raise SourceStoppedError(f"import: {fault.detail}", fault.remedy) from fault
    return ImportOptions(
        exports=exports,
        target=target,
        format_name=given.from_,
        rules=Rules(
            zone=zone,
            short_names=given.names == "short",
            verified=given.verified,
            scale=scale,
            columns=Columns(mapped=given.map, date_format=given.date_format, source=given.source),
            publicity=publicity,
            today=now.astimezone(zone).date(),
        ),
        location=given.location,
        name=given.name,
        full_names=given.names == "full",
        replace=source.gone != "keep",
        yes=False,
        dry_run=dry_run,
        now=now,
        synced=synced,
    )
