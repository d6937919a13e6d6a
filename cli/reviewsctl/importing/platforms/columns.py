"""Finds the columns of a table by their names, by ``--map``, or by asking."""

import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

from reviewsctl.importing.errors import SayMoreError
from reviewsctl.importing.format import Fields, Head
from reviewsctl.importing.publicity.signs import sign_of
from reviewsctl.importing.ratings import SCALES, rating_of
from reviewsctl.importing.scales import best_in
from reviewsctl.importing.settings import Settings
from reviewsctl.importing.times import is_date
from reviewsctl.importing.values import (
    is_contact,
    is_nothing,
    listed,
    normal,
    shown,
    word,
    yes_or_no,
)
from reviewsctl.importing.vocabulary.words import COLUMNS, GUESSES, PUBLICITY
from reviewsd.api.platforms import PLATFORMS, source_of
from reviewsd.api.spelling import nearest
from reviewsd.api.texts import printable
from reviewsd.domain.halves import DISLIKED, LIKED

Chosen = Mapping[str, Sequence[str]]
"""Our names to those of columns; several are the parts of a text or of a name."""

_REQUIRED = ("rating", "date")
_DATES = (
    "\nDates are days such as 2026-03-14 or 14.03.2026; --set date_format=%d/%m/%Y takes others. If the table "
    "has none, add a column with the day of each review."
)
_PARTED = ("text", "author", "reply")
_LONG = 100  # characters of a name in a message
_TEXT_WORDS = 4  # a text has more
_NAME_WORDS = range(2, 5)
_LEVELS = 3  # of the objects of a row
_SOURCE_NAMES = frozenset((*PLATFORMS, "website"))
_AUTHORS = frozenset(
    ("author", "reviewer")
)  # that are an object in some rows, and a name in others


def columns_of(head: Head) -> list[Fields]:
    """Return the first rows as those of a table."""
    return [flat(row) for row in head.sample] if head.shape == "json" else list(head.sample)


def flat(fields: Fields) -> Fields:
    """Return a row of JSON as one of a table: the members of its objects are columns ``a.b``.

    Of a list of objects, as of replies, the first is taken.
    """
    columns: dict[str, object] = {}
    _flatten(fields, "", _LEVELS, columns)
    return columns


def _flatten(fields: Fields, prefix: str, levels: int, columns: dict[str, object]) -> None:
    for name, value in fields.items():
        if isinstance(value, dict) and len(value) == 1 and "$" in next(iter(value))[:1]:
            value = next(iter(value.values()))  # noqa: PLW2901  # {"$date": "2025-03-14"} of MongoDB
        inner = value[0] if isinstance(value, list) and value else value
        if isinstance(inner, dict) and levels > 1:
            _flatten(inner, f"{prefix}{name}.", levels - 1, columns)
            if isinstance(inner.get("name"), str) and normal(name) in _AUTHORS:
                columns.setdefault(f"{prefix}{name}", inner["name"])
        if not isinstance(value, dict) or levels <= 1:
            columns.setdefault(f"{prefix}{name}", value)


def chosen(
    sample: Sequence[Fields], settings: Settings, without: Collection[str], *, asks: bool = True
) -> Chosen:
    """Return our names with those of the columns.

    Args:
        sample: The first rows.
        settings: The operator's answers.
        without: Our names that nothing is taken for unless the operator says so.
        asks: Whether texts that are left over are a question.

    Raises:
        SayMoreError: A column that is needed is not found, one that is mapped is not there, or one
            that is left over looks as if it were meant.
    """
    there = _there(sample)
    choice = _mapped(there, settings.columns)
    for ours, guesses in GUESSES.items():
        if ours in settings.columns or ours in without:
            continue
        used = {name for names in choice.values() for name in names}
        free = [there[guess] for guess in guesses if guess in there and there[guess] not in used]
        if names := _likeliest(ours, free, sample, there, used, settings):
            choice[ours] = names
    missing = [name for name in _REQUIRED if name not in choice]
    if missing:
        raise SayMoreError(
            f"no column looks like {' or '.join(missing)}; there are: {listed(dict.fromkeys(there.values()))}",
            f"Name it, as in {_guess(missing[0], sample)}{_DATES if 'date' in missing else ''}",
        )
    _ask(sample, there, choice, settings, asks=asks)
    return choice


def _likeliest(
    ours: str,
    free: Sequence[str],
    sample: Sequence[Fields],
    there: Mapping[str, str],
    used: Collection[str],
    settings: Settings,
) -> Sequence[str]:
    """Return the columns that are taken for one of our names, of those that are called like it."""
    match ours:
        case "author":
            return _author(there, free)
        case "rating":
            free = [*filter(partial(has_ratings, sample), free), *free]
        case "best":
            free = [name for name in free if _are_bests(sample, name)]
        case "source":
            free = [name for name in free if settings.source is None and _has_sources(sample, name)]
        case "location" if settings.location is None:
            names = [name for name in dict.fromkeys(there.values()) if name not in used]
            free = [name for name in names if _has_declared(sample, name, settings.places)]
        case "text":
            free = [name for name in free if _is_no_rating(sample, name)]
            return [*free[:1], *_halves(sample, there, {*used, *free[:1]})]
    return free[:1]


def _guess(ours: str, sample: Sequence[Fields]) -> str:
    """Return the option for a column that is needed; for a date with the first column that has dates.

    Numbers may be anything, so that no column is named for a rating.
    """
    names = [name for row in sample[:1] for name in row] if ours == "date" else []
    alike = (name for name, _ in _alike(sample, names, is_date))
    return _option(ours, next(alike, "COLUMN"))


def _option(ours: str, name: str) -> str:
    """Return the option that names a column, as it can be typed into a shell."""
    return f"--map {shlex.quote(f'{ours}={printable(name[:_LONG])}')}"


def has_columns(head: Head) -> bool:
    """Return whether a rating and a date are among the columns."""
    try:
        chosen(columns_of(head), Settings(columns={"text": "", "author": ""}), (), asks=False)
    except SayMoreError:
        return False
    return True


def _there(sample: Sequence[Fields]) -> dict[str, str]:
    """Return the names of columns as they are compared, also without a scale and without the objects around them."""
    there: dict[str, str] = {}
    names = dict.fromkeys(
        name
        for row in sample
        for name, value in row.items()
        if not (isinstance(value, list | dict) and value)
    )
    for name in names:
        there.setdefault(normal(name), name)
    for name in names:
        there.setdefault(_without_scale(_without_legend(name)), name)
    for name in names:
        *around, last = name.split(".")
        inner = [name for name in around if normal(name) not in PUBLICITY.sets["wrappers"]]
        if len(inner) < len(around):
            there.setdefault(normal(".".join((*inner, last))), name)
    return there


def _without_legend(name: str) -> str:
    """Return the name of a column as it is compared, up to the first number where it says what numbers mean: "1 = bad"."""
    words = normal(name).split()
    first = next((index for index, part in enumerate(words) if part.isdigit()), len(words))
    return " ".join(words[: first if "=" in name else len(words)])


def _without_scale(name: str) -> str:
    """Return the name of a column without the scale of its ratings at its end: "rating" of "rating 1 10"."""
    words = name.split()
    while name[-1:].isdigit() and len(words) > 1:
        if not words[-1].isdigit() and words[-1] not in COLUMNS.sets["scale_words"]:
            break
        words.pop()
    return " ".join(words)


def _author(there: Mapping[str, str], free: Sequence[str]) -> list[str]:
    """Return the column of whole names, else those of first and last names, else the likeliest."""
    whole_names = GUESSES["author"][: GUESSES["author"].index("name")]
    names = [there[name] for name in whole_names if name in there]
    if names and names[0] in free:
        return names[:1]
    first = next((there[name] for name in COLUMNS.lists["first_names"] if name in there), None)
    last = next(
        (
            there[name]
            for name in COLUMNS.lists["last_names"]
            if name in there and there[name] != first
        ),
        None,
    )
    if first is not None and normal(first).endswith(("vorname", "voornaam")):
        last = last or there.get("name") or there.get("naam")
    return [first, last] if first is not None and last is not None else list(free[:1])


def _halves(sample: Sequence[Fields], there: Mapping[str, str], used: Collection[str]) -> list[str]:
    """Return the columns of what people liked and disliked, which are both the review."""
    free = {compared: name for compared, name in there.items() if name not in used}
    halves = [
        name
        for kind in (LIKED, DISLIKED)
        for compared, name in free.items()
        if compared in kind and _has_texts(sample, name)
    ]
    return list(dict.fromkeys(halves))


def _is_no_rating(sample: Sequence[Fields], name: str) -> bool:
    """Return whether a column is no second one of ratings: a "Bewertung" is a rating or a text."""
    return normal(name) not in GUESSES["rating"] or _has_texts(sample, name)


def _has_texts(sample: Sequence[Fields], name: str) -> bool:
    values = [row.get(name) for row in sample if not is_nothing(row.get(name))]
    return not values or any(
        rating_of(value) is None and yes_or_no(value) is None for value in values
    )


def has_ratings(sample: Sequence[Fields], name: str) -> bool:
    """Return whether most cells of a column are ratings."""
    values = [row.get(name) for row in sample if not is_nothing(row.get(name))]
    ratings = [
        value for value in values if rating_of(value) is not None or yes_or_no(value) is not None
    ]
    return 2 * len(ratings) > len(values)


def _are_most(sample: Sequence[Fields], name: str, looks: Callable[[str], bool]) -> bool:
    """Return whether most cells of a column look like something."""
    values = [value for value in (word(row.get(name)) for row in sample) if value is not None]
    return 2 * sum(map(looks, values)) > len(values)


def _has_sources(sample: Sequence[Fields], name: str) -> bool:
    """Return whether a column has sources: by its name, or where that may be of a place, by its cells."""
    is_vague = normal(name.rpartition(".")[2]) in COLUMNS.sets["vague_sources"]
    return not is_vague or _are_most(sample, name, lambda value: source_of(value) in _SOURCE_NAMES)


def _has_declared(sample: Sequence[Fields], name: str, places: Collection[str]) -> bool:
    """Return whether a column is named as places are, and has the declared ones."""
    is_named = normal(name) in COLUMNS.sets["places"]
    return is_named and _are_most(sample, name, lambda value: value.casefold() in places)


def _are_bests(sample: Sequence[Fields], name: str) -> bool:
    values = [row.get(name) for row in sample if not is_nothing(row.get(name))]
    return bool(values) and all(best_in(value) in SCALES for value in values)


def _mapped(there: Mapping[str, str], mapped: Mapping[str, str]) -> dict[str, Sequence[str]]:
    choice: dict[str, Sequence[str]] = {}
    for ours, name in mapped.items():
        if ours not in GUESSES:
            is_reversed = name in GUESSES and normal(ours) in there
            right = f'; did you mean "{name}={printable(ours)}"?'
            hint = right if is_reversed else nearest(ours, GUESSES)
            raise SayMoreError(
                f"--map: {shown(ours)} is no member of a review{hint}",
                f"There are: {', '.join(GUESSES)}",
            )
        parts = [name]
        if name and normal(name) not in there and ours in _PARTED:
            parts = name.split("+")
        for part in filter(None, parts):
            if normal(part) not in there:
                column, columns = part.strip(), dict.fromkeys(there.values())
                raise SayMoreError(
                    f"--map: there is no column {shown(column)}{nearest(column, columns)}",
                    f"There are: {listed(columns)}",
                )
        if name:
            choice[ours] = [there[normal(part)] for part in parts]
    return choice


def _ask(
    sample: Sequence[Fields],
    there: Mapping[str, str],
    choice: Chosen,
    settings: Settings,
    *,
    asks: bool,
) -> None:
    """Ask about columns that were not recognized, so that none is lost silently, and about addresses in place of words."""
    for ours in ("text", "title", "reply") if asks else ():
        for name in choice.get(ours, ()):
            if _are_most(sample, name, _is_contact):
                others = "+".join(other for other in choice[ours] if other != name)
                raise SayMoreError(
                    f"column {shown(name)} has phone numbers or e-mail addresses, which readers would see",
                    f"Leave it out: {_option(ours, others)}",
                )
    used = {name for names in choice.values() for name in names}
    unused = [name for name in dict.fromkeys(there.values()) if name not in used]
    mapped, texts = settings.columns, "+".join(choice.get("text", ()))
    is_settled = "reply" in mapped or ("text" in mapped and "reply" in choice)
    if mapped.get("text") != "" and (not texts or (asks and not is_settled)):
        for name, example in _alike(sample, filter(_may_be_text, unused), _is_text):
            parts = _option("text", "+".join(filter(None, (texts, name[:_LONG]))))
            has_reply = "reply" in choice
            none = _option("text", texts) if has_reply or not texts else "--map reply="
            reply = "" if has_reply else f"{_option('reply', name)} if it is the owner's reply, "
            raise SayMoreError(
                f"column {shown(name)} has texts and was not recognized, for example {shown(example)}",
                f"Say {parts} if it is part of the review, {reply}or {none} if it is neither",
            )
    if "author" not in choice and "author" not in mapped:
        for name, example in _alike(sample, unused, _is_name):
            raise SayMoreError(
                f"no column was recognized as author, but {shown(name)} looks like it, for example {shown(example)}",
                f"Say {_option('author', name)}, or --map author= if none is",
            )


def _alike(
    sample: Sequence[Fields], names: Iterable[str], looks: Callable[[str], bool]
) -> Iterator[tuple[str, str]]:
    """Return the columns of which half of the cells look like something, each with an example."""
    for name in names:
        if not any(part.startswith(COLUMNS.lists["private"]) for part in normal(name).split()):
            values = [text for text in (word(row.get(name)) for row in sample) if text is not None]
            if values and sum(map(looks, values)) * 2 >= len(values):
                yield name, next(filter(looks, values))


def _may_be_text(name: str) -> bool:
    words = normal(name).split()
    if sign_of(name) is not None:
        return False
    return COLUMNS.sets["no_texts"].isdisjoint(words) or not COLUMNS.sets["text_words"].isdisjoint(
        words
    )


def _is_text(value: str) -> bool:
    return sum(any(map(str.isalpha, part)) for part in value.split()) > _TEXT_WORDS


def _is_contact(value: str) -> bool:
    return is_contact(value) and not is_date(value)


def _is_name(value: str) -> bool:
    parts = value.split(maxsplit=_NAME_WORDS.stop)
    return len(parts) in _NAME_WORDS and all(
        part[0].isupper() and not any(letter.isdigit() or letter in "@/:" for letter in part)
        for part in parts
    )
