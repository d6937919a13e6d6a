"""Which column of somebody's own table is what: by its name, by what the operator says, or a question.

Names are compared without case, accents and punctuation, in English, German, French and Spanish.
"""

import datetime
import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import Final

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
from reviewsctl.importing.values import normal, shown, word
from reviewsctl.terminal.escaping import printable

GUESSES: Final[Mapping[str, Sequence[str]]] = {
    "rating": ("review rating", "review score", "rating", "stars", "star rating", "score",
               "rating value", "sterne", "bewertung", "sternebewertung", "punkte",
               "etoiles", "evaluation", "nombre d etoiles",
               "calificacion", "puntuacion", "valoracion", "estrellas", "note"),
    "date": ("review date", "review datetime utc", "review timestamp", "date", "created", "created at", "published", "published at", "posted",
             "posted at", "posted on", "submitted", "date created", "review creation date", "time",
             "timestamp", "datetime", "datum", "bewertungsdatum", "erstellt", "erstellt am",
             "veroffentlicht", "veroffentlicht am", "date de l avis", "publie le", "cree le",
             "date de publication", "fecha", "fecha de publicacion", "fecha de la resena"),
    "author": ("author", "author name", "author title", "reviewer", "reviewer name",
               "reviewer display name", "name", "customer", "customer name", "display name",
               "nickname", "full name", "user", "username", "user name", "autor", "verfasser", "kunde", "kundenname",
               "auteur", "nom", "client", "nom du client",
               "nombre", "cliente", "nombre del cliente", "usuario"),
    "text": ("review text", "review content", "text", "review", "comment", "comments", "body",
             "content", "message", "feedback", "kommentar", "bewertungstext", "rezension",
             "nachricht", "avis", "commentaire", "texte", "contenu",
             "resena", "comentario", "texto", "opinion", "mensaje"),
    "title": ("review title", "title", "headline", "subject", "titel", "uberschrift", "betreff",
              "titre", "titulo", "asunto"),
    "reply": ("reply", "response", "owner answer", "owner reply", "owner response", "reply text",
              "comment content", "antwort", "antwort des inhabers", "reponse",
              "reponse du proprietaire", "respuesta", "respuesta del propietario"),
    "reply_date": ("reply date", "response date", "owner answer date", "owner reply date",
                   "owner answer timestamp datetime utc", "owner answer timestamp",
                   "replied at", "comment date", "antwortdatum", "antwort vom", "beantwortet am",
                   "date de la reponse", "fecha de la respuesta"),
    "verified": ("verified", "is verified", "review verified", "verified buyer",
                 "is verified buyer", "verified purchase", "reviewer type", "verifiziert",
                 "verifizierter kauf", "verifie", "achat verifie", "verificado",
                 "compra verificada"),
    "url": ("url", "link", "review url", "review link", "source url", "permalink", "lien",
            "enlace"),
    "avatar": ("avatar", "avatar url", "photo", "author avatar url", "author image"),
    "source": ("source", "platform", "site", "site name", "channel", "quelle", "plattform",
               "plateforme", "fuente", "plataforma"),
    "status": (),  # recognized by publicity
    "id": ("id", "review id", "uid", "uuid"),
}  # fmt: skip
"""Our names, and those of columns that are taken for them, the likeliest first.

What is said to be of the review or its author is: of a place it may be the average and the name.
"""

_REQUIRED = ("rating", "date")
_QUESTIONS = {"text": "what people wrote", "author": "who wrote"}
_SHOWN, _LONG = 40, 100  # columns in a message, and characters of each
_TEXT_WORDS = 4  # a text has more
_NAME_WORDS = range(2, 5)
_LEVELS = 3  # of the objects of a row


def columns_of(head: Head) -> list[Fields]:
    """The first rows as a table has them."""
    return [flat(row) for row in head.sample] if head.shape == "json" else list(head.sample)


def flat(fields: Fields) -> Fields:
    """A row of JSON as one of a table: the members of its objects are columns ``a.b``."""
    found: dict[str, object] = {}
    _flatten(fields, "", _LEVELS, found)
    return found


def _flatten(fields: Fields, prefix: str, levels: int, found: dict[str, object]) -> None:
    for name, value in fields.items():
        if isinstance(value, dict) and levels > 1:
            _flatten(value, f"{prefix}{name}.", levels - 1, found)
        else:
            found.setdefault(f"{prefix}{name}", value)


def chosen(sample: Sequence[Fields], columns: Columns, without: Collection[str]) -> dict[str, str]:
    """Our names to those of the columns.

    Args:
        sample: The first rows.
        columns: What the operator says.
        without: Our names that nothing is taken for unless the operator says so.

    Raises:
        SayMoreError: A column that is needed is not found, one that is mapped is not there, or one
            that is left over looks as if it were meant.
    """
    there: dict[str, str] = {}
    for name in (name for row in sample for name in row):
        there.setdefault(normal(name), name)
    found = _mapped(there, columns)
    for ours, guesses in GUESSES.items():
        if ours in columns.mapped or ours in without:
            continue
        taken = found.values()
        free = [each for each in guesses if each in there and there[each] not in taken]
        if free:
            found[ours] = there[free[0]]
    missing = [name for name in _REQUIRED if name not in found]
    if missing:
        raise SayMoreError(
            f"no column looks like {' or '.join(missing)}; there are: {listed(there.values())}",
            f"Say which it is, as in --map {missing[0]}=COLUMN",
        )
    for ours, what in _QUESTIONS.items():
        if ours not in found and ours not in columns.mapped:
            _ask(
                ours, what, sample, [name for name in there.values() if name not in found.values()]
            )
    return found


def has_columns(head: Head) -> bool:
    """Whether some columns are taken for a rating and a date."""
    try:
        chosen(columns_of(head), Columns(mapped=dict.fromkeys(_QUESTIONS, "")), ())
    except SayMoreError:
        return False
    return True


def _mapped(there: Mapping[str, str], columns: Columns) -> dict[str, str]:
    found = {}
    for ours, name in columns.mapped.items():
        if ours not in GUESSES:
            raise SayMoreError(
                f'--map: "{printable(ours)}" is no member of a review',
                f"There are: {', '.join(GUESSES)}",
            )
        if ours == "status" and not name:
            raise SayMoreError(
                "--map status= would take what its platform holds back",
                'If a column does not say which reviews are public: --public "COLUMN=*"',
            )
        if name and normal(name) not in there:
            raise SayMoreError(
                f'--map: there is no column "{printable(name)}"',
                f"There are: {listed(there.values())}",
            )
        if name:
            found[ours] = there[normal(name)]
    return found


def _ask(ours: str, what: str, sample: Sequence[Fields], unused: Sequence[str]) -> None:
    """What a column says is not lost without a word."""
    looks = _is_text if ours == "text" else _is_name
    for name in unused:
        values = [text for text in (word(row.get(name)) for row in sample) if text is not None]
        if values and sum(map(looks, values)) * 2 >= len(values):
            raise SayMoreError(
                f"no column was recognised as {ours} ({what}), but {shown(name)} looks like it, "
                f"for example {shown(values[0])}",
                f"Say --map {ours}={printable(name[:_LONG])}, or --map {ours}= if none is",
            )


def _is_text(value: str) -> bool:
    return len(value.split(maxsplit=_TEXT_WORDS)) > _TEXT_WORDS


def _is_name(value: str) -> bool:
    parts = value.split(maxsplit=_NAME_WORDS.stop)
    return len(parts) in _NAME_WORDS and all(
        part[0].isupper() and not any(each.isdigit() or each in "@/:" for each in part)
        for part in parts
    )


def listed(names: Collection[str]) -> str:
    """Names for a message, the first of many."""
    found = ", ".join(printable(name[:_LONG]) for name in itertools.islice(names, _SHOWN))
    return f"{found} and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else found


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
            f'Say which it is: --date-format "{one}" or --date-format "{other}"',
        ) from error
