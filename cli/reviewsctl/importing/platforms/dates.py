"""Finds how the dates of a table are written, by the first values of its columns."""

from collections.abc import Sequence

from reviewsctl.importing.errors import SayMoreError
from reviewsctl.importing.format import Fields
from reviewsctl.importing.settings import Settings
from reviewsctl.importing.times import Reading, is_moment, reading_of, relative
from reviewsctl.importing.values import shown, word


def dates_of(
    sample: Sequence[Fields], settings: Settings, *columns: Sequence[str], native: str = ""
) -> tuple[Reading, str]:
    """Return how columns of dates are read, by their first values, and the name of the pattern.

    Args:
        sample: The first rows.
        settings: The operator's answers.
        columns: Without regard to case, those of the reviews' dates and those of the replies', each with the others that
            say the same date, as ``legible`` takes them.
        native: The pattern in which a platform itself writes, where that is not ISO 8601.

    Raises:
        SayMoreError: They can be read in two ways, or those of the reviews say no day.
    """
    cells: list[tuple[str, object]] = []
    for names in columns:
        for row in sample:
            there = {name.casefold(): (name, value) for name, value in row.items()}
            spellings = [there[key] for key in map(str.casefold, names) if key in there]
            if len(names) == 1 or not any(is_moment(value) for _, value in spellings):
                cells += spellings
        dates = [value for _, value in cells if word(value) is not None]
        if dates and settings.date_format is None and all(map(relative, dates)):
            raise SayMoreError(
                f"the dates in column {shown(names[0])} are ages, for example {shown(dates[0])}: they "
                "depend on the day of the export and say no day",
                "Export the dates themselves, or name the column that has them: --map date=COLUMN",
            )
    return reading_of(cells, settings.date_format, native)
