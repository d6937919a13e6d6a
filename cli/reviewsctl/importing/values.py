"""What stands in an export as what stands in a review: stars, texts, addresses, names."""

import re
from urllib.parse import quote

from reviewsctl.importing.review import ESCAPE, HOST, UNFIT, RowRefusedError
from reviewsctl.terminal.escaping import printable

MAX_STARS = 5

_HOST = re.compile(HOST)
_NO_ESCAPE = re.compile(ESCAPE)
_UNFIT = re.compile(rf"[{UNFIT}\[\]]|{ESCAPE}")
_BLANK = re.compile(r"\s")
_NOBODY = re.compile(r"A [^\W\d_]+ user")
_EMAIL = re.compile(r"[^\s@]++@[^\s@][^\s@.]*+\.[^\s@]++")
_STARS = re.compile(
    r"([0-9]+)(?:[.,]0*)?(?:\s*(?:/|of|out of)\s*5(?:[.,]0*)?)?(?:\s*(?:stars?|★))?", re.IGNORECASE
)
_DRAWN = re.compile(r"(★{1,5})[☆✩]*")
_WORDS = {"ONE": 1, "TWO": 2, "THREE": 3, "FOUR": 4, "FIVE": 5}
_SHOWN = 60  # characters of a value in a message

_TRANSLATED = "(Translated by Google)"
_ORIGINAL = "(Original)"
# <translation> first, then the original; the whole pair of markers has to be there
_TRANSLATION_FIRST = re.compile(
    rf"{re.escape(_TRANSLATED)}[ \n].*?\n\n{re.escape(_ORIGINAL)}\n(.*)", re.DOTALL
)
_ORIGINAL_FIRST = re.compile(rf"(.*?)\n\n{re.escape(_TRANSLATED)}\n.+", re.DOTALL)


def shown(value: object) -> str:
    """A value of the export within a message: short, and on one line."""
    text = str(value)
    cut = "…" if len(text) > _SHOWN else ""
    return f'"{printable(text[:_SHOWN])}{cut}"'


def words(value: object) -> str | None:
    """A text, verbatim; None when there is none."""
    if isinstance(value, str):
        return value if value and not value.isspace() else None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a spreadsheet has nothing but floats
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return None


def word(value: object) -> str | None:
    """A text without blanks around it; None when there is none."""
    text = words(value)
    return None if text is None else text.strip()


def address(value: object) -> str | None:
    """An absolute http or https address, None for anything else: it will be a link.

    Characters that no address holds as they are get percent-encoded, as a browser does.
    """
    text = word(value)
    host = None if text is None or _BLANK.search(text) else _HOST.match(text)
    if text is None or host is None or _NO_ESCAPE.search(host[0]):
        return None
    path, hash_, fragment = text[host.end() :].partition("#")
    rest = _UNFIT.sub(_escaped, path) + hash_ + _UNFIT.sub(_escaped, fragment.replace("#", "%23"))
    return host[0] + rest


def _escaped(match: re.Match[str]) -> str:
    return quote(match[0], safe="")


def stars(value: object) -> int:
    """A rating of one to five whole stars.

    Raises:
        RowRefusedError: It is none; nothing is rounded or rescaled.
    """
    found: int | None = None
    if isinstance(value, bool) or value is None or value == "":
        found = None
    elif isinstance(value, int):
        found = value
    elif isinstance(value, float):
        found = int(value) if value.is_integer() else None
    elif isinstance(value, str):
        found = _read_stars(value.strip())
    if found is None or not 1 <= found <= MAX_STARS:
        if word(value) is None:
            raise RowRefusedError("no rating")
        raise RowRefusedError(f"rating {shown(value)} is not a whole number of stars from 1 to 5")
    return found


def _read_stars(text: str) -> int | None:
    if match := _STARS.fullmatch(text):
        return int(match[1]) if len(match[1]) == 1 else None
    if match := _DRAWN.fullmatch(text):
        return len(match[1])
    return _WORDS.get(text.upper())


def original(comment: str | None) -> str | None:
    """What the customer wrote, where Google has put its translation beside it."""
    if comment is None or _TRANSLATED not in comment:
        return comment
    match = _TRANSLATION_FIRST.fullmatch(comment)
    if match is None and _ORIGINAL not in comment:
        match = _ORIGINAL_FIRST.fullmatch(comment)
    return match[1] if match is not None and match[1].strip() else comment


def display_name(value: object) -> str | None:
    """A customer's public name; None where there is none, or it is an e-mail address."""
    name = word(value)
    return None if name is None or _EMAIL.fullmatch(name) else name


def nobody(source: str) -> str:
    """What somebody without a name is called; Google's own word for its."""
    return f"A {source.title()} user" if source.isalpha() else "Anonymous"


def short_name(name: str) -> str:
    """``Jane Doe`` as ``Jane D.``: names are personal data. Somebody without one stays so."""
    if _NOBODY.fullmatch(name):
        return name
    first, *rest = name.split()
    return f"{first} {rest[-1][0].upper()}." if rest else first


def members(value: object) -> "dict[str, object]":
    """An object of the export; an empty one where there is something else."""
    return value if isinstance(value, dict) else {}
