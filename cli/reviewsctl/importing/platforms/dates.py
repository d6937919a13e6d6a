"""Finds how the dates of a table are written, by the first values of its columns."""

import datetime
from collections.abc import Sequence

from reviewsctl.importing.errors import SayMoreError
from reviewsctl.importing.format import Fields, Head
from reviewsctl.importing.settings import Settings
from reviewsctl.importing.times import Reading, is_moment, reading_of, relative, zoned
from reviewsctl.importing.values import shown, word


def dates_of(
    sample: Sequence[Fields], settings: Settings, column: str, answered: str | None = None
) -> tuple[Reading, str]:
    """Return how a column of dates is read, by its first values, and the name of the pattern.

    Args:
        sample: The first rows.
        settings: The operator's answers.
        column: That of the reviews' dates.
        answered: That of the replies' dates, which are written in the same way.

    Raises:
        SayMoreError: They can be read in two ways, or those of the reviews say no day.
    """
    dates = [(column, row.get(column)) for row in sample]
    if settings.date_format is None:
        there = [value for _, value in dates if word(value) is not None]
        if there and all(map(relative, there)):
            raise SayMoreError(
                f"the dates in column {shown(column)} are ages, for example {shown(there[0])}: they "
                "depend on the day of the export and say no day",
                "Export the dates themselves, or name the column that has them: --map date=COLUMN",
            )
    if answered is not None:
        dates += [(answered, row.get(answered)) for row in sample]
    return reading_of(dates, settings.date_format)


def platform_dates(
    head: Head, settings: Settings, *columns: Sequence[str], zone: datetime.tzinfo, native: str = ""
) -> Reading:
    """Return how the dates of a platform are read, which a spreadsheet may have changed.

    Args:
        head: The beginning of the file.
        settings: The settings of the import.
        columns: Without regard to case, those of the reviews' dates and those of the replies', each with the
            others that say the same date, as ``legible`` takes them.
        zone: Of a date without one.
        native: The pattern in which the platform itself writes, where that is not ISO 8601.

    Raises:
        SayMoreError: They can be read in two ways.
    """
    cells: list[tuple[str, object]] = []
    for row in head.sample:
        there = {name.casefold(): (name, value) for name, value in row.items()}
        for names in columns:
            spellings = [there[key] for key in map(str.casefold, names) if key in there]
            if not any(is_moment(value) for _, value in spellings):
                cells += spellings
    reading, _ = reading_of(cells, settings.date_format, native)
    return lambda value: zoned(reading(value), zone)
