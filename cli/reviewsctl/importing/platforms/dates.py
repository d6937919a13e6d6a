"""How the dates of a table are written: by its first rows, by what the operator says, or a question."""

import datetime
from collections.abc import Sequence

from reviewsctl.importing.errors import SayMoreError
from reviewsctl.importing.format import Columns, Fields, Head, Rules
from reviewsctl.importing.times import (
    AmbiguousError,
    Reading,
    by_pattern,
    guessed,
    is_moment,
    relative,
    zoned,
)
from reviewsctl.importing.values import shown, word
from reviewsctl.terminal.escaping import printable


def dates_of(
    sample: Sequence[Fields], columns: Columns, column: str, answered: str | None = None
) -> tuple[Reading, str]:
    """How a column of dates is read, by its first values, and what to call that.

    Args:
        sample: The first rows.
        columns: What the operator says.
        column: That of the reviews' dates.
        answered: That of the replies' dates, which are written in the same way.

    Raises:
        SayMoreError: They can be read in two ways, or those of the reviews say no day.
    """
    dates = [(column, row.get(column)) for row in sample]
    if columns.date_format is None:
        example = next((value for _, value in dates if relative(value)), None)
        if example is not None:
            raise SayMoreError(
                f"the dates in column {shown(column)} are ages, for example {shown(example)}: they "
                "depend on the day of the export and say no day",
                "Export the dates themselves, or name the column that has them: --map date=COLUMN",
            )
    if answered is not None:
        dates += [(answered, row.get(answered)) for row in sample]
    return _spelled(dates, columns)


def platform_dates(
    head: Head, rules: Rules, *columns: Sequence[str], zone: datetime.tzinfo, native: str = ""
) -> Reading:
    """How the dates of a platform are read, which a spreadsheet may have spelled anew.

    Args:
        head: The beginning of the file.
        rules: What the operator says.
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
            found = [there[key] for key in map(str.casefold, names) if key in there]
            if not any(is_moment(value) for _, value in found):
                cells += found
    reading, _ = _spelled(cells, rules.columns, native)
    return lambda value: zoned(reading(value), zone)


def _spelled(
    dates: Sequence[tuple[str, object]], columns: Columns, native: str = ""
) -> tuple[Reading, str]:
    """How dates, each with the name of its column, are read, and what to call that."""
    if columns.date_format is not None:
        return by_pattern(columns.date_format), columns.date_format
    try:
        return guessed([value for _, value in dates])
    except AmbiguousError as error:
        if native in error.patterns:  # a spreadsheet would have cut off its seconds
            return by_pattern(native), native
        one, other = error.patterns
        column = next(name for name, value in dates if word(value) == error.example)
        raise SayMoreError(
            f"the dates in column {shown(column)} can be read in two ways, for example "
            f"{printable(error.example)}",
            f'Say which it is: --set "date_format={one}" or --set "date_format={other}"',
        ) from error
