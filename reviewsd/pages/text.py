"""Makes texts by customers and owners safe in HTML, Markdown, front matter and XML.

A business may have any name, and customers write what they like. The functions return a text that
cannot end its line, begin a heading or a link, or change the direction of the text around it.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

# Embeddings, overrides and isolates reach beyond the text that they are in (UAX 9, 2.1 and 2.4);
# the two noncharacters cannot be in XML (XML 1.0, 2.2).
_UNFIT: Final = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufffe\uffff"
_BREAKS: Final = "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85"

_CLEAN: Final = {
    **{code: None for code in range(0xA0) if unicodedata.category(chr(code)) == "Cc"},
    **dict.fromkeys(map(ord, _UNFIT)),
    **{ord(character): "\n" for character in _BREAKS},
}

_UNPRINTABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\ufffe\uffff]")
"""Characters that HTML cannot hold, embeddings and overrides; isolates are used by our own words."""

_ESCAPES: Final = {ord(character): f"\\{character}" for character in "\\`*_[]<>#|~"}
_MARKUP: Final = re.compile(r"[\\`*_\[\]<>#|~&]|\A[ \t]*[-+=0-9]")
"""A text without a match has nothing to escape; most have none."""
_LIST_MARKS: Final = ("-", "+", "=")
_DIGITS: Final = "0123456789"

_BEGIN, _END = "\x02", "\x03"
"""The bounds of a match while its text is escaped; no printable text has them."""
_MOST_MARKS: Final = 100
"""Matches that are highlighted in a text; a letter may occur a million times."""

_READ: Final = 8
"""Characters read for each character of a shortened text, since blanks and controls are dropped."""


def printable(text: str) -> str:
    """Replace the characters that HTML cannot hold, and those that turn the text around them."""
    return text if text.isprintable() else _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def line(text: str) -> str:
    """Return a text as one line: blanks and line ends become one space, controls are dropped."""
    if not text.isprintable():  # a printable text has nothing to drop
        text = text.translate(_CLEAN)
    return " ".join(text.split())


def shortened(text: str, length: int) -> str:
    """Return a text as one line of at most ``length`` characters, cut at a blank if it is longer."""
    start = text[: _READ * length]  # a text may have megabytes
    text_line = line(start)
    if len(text_line) <= length and len(start) == len(text):
        return text_line
    return beginning(f"{text_line} …".lstrip(), length)


def beginning(text: str, length: int) -> str:
    """Return at most ``length`` characters of a text with its lines, cut at a blank if it is longer."""
    if len(text) <= length:
        return text
    blank = max(text.rfind(" ", 0, length), text.rfind("\n", 0, length))
    return f"{text[: length - 1 if blank < 0 else blank].rstrip()}…"


def highlighted(text: str, needle: str) -> str:
    """Return a text with the bounds of the matches of a search, which ``marked`` turns into elements.

    Args:
        text: A printable text.
        needle: A casefolded text, not empty. A match is one in the casefolded text, as in the search.
    """
    folded = text.casefold()
    pieces = folded.split(needle, _MOST_MARKS)
    places: Sequence[int] = range(len(text) + 1)
    if len(folded) != len(text):  # some characters fold to several
        places = [at for at, character in enumerate(text) for _ in character.casefold()]
    parts: list[str] = []
    end = stop = 0
    for piece in pieces[:-1]:
        begin = stop + len(piece)
        stop = begin + len(needle)
        first, last = max(end, places[begin]), places[stop - 1] + 1
        if first < last:  # else it is within the last character of the match before
            parts.append(f"{text[end:first]}{_BEGIN}{text[first:last]}{_END}")
            end = last
    return "".join((*parts, text[end:]))


def marked(html: str) -> str:
    """Return a highlighted text that has been escaped, with ``<mark>`` around the matches."""
    return html.replace(_BEGIN, "<mark>").replace(_END, "</mark>")


def markdown(text: str) -> str:
    """Return a text as one line of Markdown without any markup (CommonMark 2.4)."""
    return escaped(line(text))


def quotation(text: str) -> str:
    """Return a text as a block quotation of Markdown, line by line."""
    lines = text.replace("\r\n", "\n").translate(_CLEAN).splitlines()
    quoted = (f"> {markdown(text_line)}".rstrip(" ") for text_line in lines)
    return "\n".join(quoted) or ">"


def link(name: str, address: str) -> str:
    """Return a link of Markdown.

    Args:
        name: The text of the link, not escaped.
        address: A URL without blanks, as those of the data model are.
    """
    return f"[{markdown(name)}]({address.replace('(', '%28').replace(')', '%29')})"


def escaped(text: str) -> str:
    """Escape the markup of one line for Markdown; leading blanks stay."""
    if _MARKUP.search(text) is None:
        return text
    body = text.lstrip(" \t")
    indent, text = text[: len(text) - len(body)], body
    digits = len(text) - len(text.lstrip(_DIGITS))
    before = ""
    if digits and text[digits : digits + 1] in {".", ")"}:
        before, text = f"{text[:digits]}\\", text[digits:]
    elif text.startswith(_LIST_MARKS):
        before = "\\"
    first, *parts = text.translate(_ESCAPES).split("&")
    entities = (f"\\&{part}" if part[:1].isalpha() else f"&{part}" for part in parts)
    return f"{indent}{before}{first}{''.join(entities)}"
