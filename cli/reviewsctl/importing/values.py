"""Values of an export as members of a review: texts, addresses, names, yes and no."""

import functools
import itertools
import re
import unicodedata
from collections.abc import Collection, Mapping
from urllib.parse import quote

import msgspec

from reviewsctl.importing.errors import RowRefusedError
from reviewsctl.importing.vocabulary.words import CELLS
from reviewsd.api import names
from reviewsd.api.texts import ANONYMOUS, is_nameless, printable

encoded = msgspec.json.Encoder().encode
"""Returns any value as JSON."""

_ESCAPABLE = r"\s\x00-\x1f\"<>\\^`{|}\x7f-\x9f\u200e\u200f\u202a-\u202e\ufff0-\uffff"
"""Characters that no address has (RFC 3987 2.2, 4.1)."""
_HOST = re.compile(
    rf"[Hh][Tt][Tt][Pp][Ss]?://(?:[^{_ESCAPABLE}/?#\[\]@]*@)?"
    rf"(?:[^{_ESCAPABLE}/?#\[\]@:]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?(?=[/?#]|\Z)"
)
_NO_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")
_UNFIT = re.compile(rf"[{_ESCAPABLE}\[\]]|{_NO_ESCAPE.pattern}")
_BLANK = re.compile(r"\s")
_EMAIL = re.compile(r"[^\s@]++@[^\s@][^\s@.]*+\.[^\s@]++")
_PHONE = re.compile(r"[+(]{0,2}[0-9](?:[ ()./-]{0,3}[0-9]){6,14}")
_CONTACT = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}"
    r"|(?<![\w.,+/-])(?![0-9]{1,2}[./-][0-9]{1,2}[./-])[+0][0-9](?:[ ()./-]{0,2}[0-9]){7,13}(?!\w)"
)
"""An e-mail address, or a phone number with the 0 or + before it, which is no date."""

_SHOWN = 60  # characters of a value in a message
_LISTED = 40  # names in a message
_LONG = 100  # characters of a name that are shown or compared
_TITLE_WORDS = 2  # of a title that has more, the last may be cut
_HUMP = re.compile("(?<=[a-z0-9])(?=[A-Z])")

_TRANSLATED = "(Translated by Google)"
_ORIGINAL = "(Original)"
# <translation> first, then the original; the whole pair of markers has to be there
_TRANSLATION_FIRST = re.compile(
    rf"{re.escape(_TRANSLATED)}[ \n].*?\n\n{re.escape(_ORIGINAL)}\n(.*)", re.DOTALL
)
_ORIGINAL_FIRST = re.compile(rf"(.*?)\n\n{re.escape(_TRANSLATED)}\n.+", re.DOTALL)


def without_surrogates(value: object) -> object:
    """Return a JSON value with U+FFFD for lone surrogates, which UTF-8 cannot hold."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [without_surrogates(element) for element in value]
    if isinstance(value, dict):
        return {
            without_surrogates(name): without_surrogates(member) for name, member in value.items()
        }
    return value


def shown(value: object) -> str:
    """Return a value of the export for a message: short, and on one line."""
    text = str(value)
    cut = "…" if len(text) > _SHOWN else ""
    return f'"{printable(text[:_SHOWN])}{cut}"'


def listed(names: Collection[str]) -> str:
    """Return names for a message, the first of many."""
    text = ", ".join(printable(name[:_LONG]) for name in itertools.islice(names, _LISTED))
    return f"{text} and {len(names) - _LISTED:,} more" if len(names) > _LISTED else text


def words(value: object) -> str | None:
    """Return a text, verbatim; None if there is none.

    Letters and their accents are joined (NFC), as some programs of a Mac part them: else the same review would be
    another one.
    """
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value) if value and not value.isspace() else None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a spreadsheet has nothing but floats
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return None


def word(value: object) -> str | None:
    """Return a text without blanks around it; None if there is none."""
    text = words(value)
    return None if text is None else text.strip()


def address(value: object) -> str | None:
    """Return an absolute http or https address; None for anything else, since it becomes a link.

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


def original(comment: str | None) -> str | None:
    """Return the text of the customer without Google's translation."""
    if comment is None or _TRANSLATED not in comment:
        return comment
    match = _TRANSLATION_FIRST.fullmatch(comment)
    if match is None and _ORIGINAL not in comment:
        match = _ORIGINAL_FIRST.fullmatch(comment)
    return match[1] if match is not None and match[1].strip() else comment


def titled(title: object, text: object) -> str | None:
    """Return a text after its title, which is a paragraph of its own.

    A title that is the beginning of the text is none: some platforms make it from that.
    """
    head, body = words(title), words(text)
    if head is None or body is None:
        return head or body
    heading, content = head.strip(), body.strip()
    stem = heading.rstrip("….")
    is_cut = stem != heading or len(stem.split()) > _TITLE_WORDS
    ends_a_word = is_cut or not content[len(stem) : len(stem) + 1].isalnum()
    if content.startswith(stem) and ends_a_word:
        return body
    return f"{head}\n\n{body}"


_CHECKED, _CROSSED = "✓✔☑✅", "✗✘❌☒"


def is_nothing(value: object) -> bool:
    """Return whether a member is there and says nothing."""
    if isinstance(value, str):
        return value.strip().casefold() in CELLS.sets["nothing"]
    return value is None or value in ([], {})


def yes_or_no(value: object) -> bool | None:
    """Return what a flag says; None for any other value."""
    if isinstance(value, bool):
        return value
    text = word(value) or ""
    if text[:1] and text[:1] in _CHECKED + _CROSSED:
        return text[:1] in _CHECKED
    bare = normal(text)
    return True if bare in CELLS.sets["yes"] else False if bare in CELLS.sets["no"] else None


def truth(value: object) -> bool | None:
    """Return whether an author is a verified customer; None where the export does not say.

    Raises:
        RowRefusedError: It says something that is neither.
    """
    answer = yes_or_no(value)
    if answer is not None:
        return answer
    text = word(value)
    if text is None:
        return None
    bare = normal(text)
    if bare in CELLS.sets["customer"] | CELLS.sets["no_customer"]:
        return bare in CELLS.sets["customer"]
    raise RowRefusedError(f"verified {shown(value)} is neither yes nor no")


def within(fields: Mapping[str, object], *names: str) -> object:
    """Return a member of an object of a row; tables spell it ``user/name`` or ``user.name``."""
    value: object = fields
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    if value is not None:
        return value
    return fields.get("/".join(names), fields.get(".".join(names)))


def display_name(value: object) -> str | None:
    """Return a public name; None if there is none, or if it is an e-mail address or a phone number."""
    name = word(value)
    return None if name is None or is_contact(name) else name


def is_contact(name: str) -> bool:
    """Return whether a name is an e-mail address or a phone number."""
    return bool(_EMAIL.fullmatch(name) or _PHONE.fullmatch(name))


def has_contact(text: str) -> bool:
    """Return whether a text has an e-mail address or a phone number in it."""
    return _CONTACT.search(text) is not None


def anonymous_name(source: str) -> str:
    """Return the name of a reviewer without a public name; Google has its own."""
    return "A Google user" if source.casefold() == "google" else ANONYMOUS


def short_name(name: str) -> str:
    """Return ``Jane Doe`` as ``Jane D.``: names are personal data. A placeholder for a name stays."""
    if is_contact(name.strip()):
        return ANONYMOUS
    return name if is_nameless(name) else names.short_name(name)


def is_short_form(short: object, name: object) -> bool:
    """Return whether a name is the short form of another one, by this rule or as the first and the last word."""
    if not isinstance(name, str) or not name.strip():
        return False
    return short in (short_name(name), names.first_and_initial(name))


def members(value: object) -> "dict[str, object]":
    """Return a value if it is an object; else an empty one."""
    return value if isinstance(value, dict) else {}


def elements(value: object) -> "list[object]":
    """Return a value if it is a list; else an empty one."""
    return value if isinstance(value, list) else []


def normal(name: str) -> str:
    """Return a name as it is compared: its words in lower case, without accents and punctuation.

    ``createdAt``, ``created_at`` and ``Created At`` are the same name. A ``#`` of its own is a word.
    """
    return _normal(name[:_LONG])


@functools.lru_cache(maxsize=4096)
def _normal(name: str) -> str:
    parts = ("nr" if part == "#" else part for part in unhumped(name).split())
    bare = unicodedata.normalize("NFKD", " ".join(parts)).casefold()
    return " ".join(
        "".join(
            letter if letter.isalnum() else " "
            for letter in bare
            if not unicodedata.combining(letter)
        ).split()
    )


def unhumped(name: str) -> str:
    """Return ``createdAt`` as ``created At``."""
    return _HUMP.sub(" ", name)
