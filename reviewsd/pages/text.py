"""Texts of strangers in documents whose lines mean something: Markdown, front matter, XML.

A business may be called anything, and customers write what they like. Here a text becomes one line, or
a quotation, that cannot end the line, begin a heading or a link, or turn the direction of what follows.
"""

import re
import unicodedata
from typing import Final

# Embeddings, overrides and isolates reach beyond the text that they stand in (UAX 9, 2.1 and 2.4);
# the two noncharacters cannot stand in XML (XML 1.0, 2.2).
_UNFIT: Final = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufffe\uffff"
_BREAKS: Final = "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85"

_CLEAN: Final = {
    **{code: None for code in range(0xA0) if unicodedata.category(chr(code)) == "Cc"},
    **dict.fromkeys(map(ord, _UNFIT)),
    **{ord(each): "\n" for each in _BREAKS},
}

_MARKUP: Final = {ord(each): f"\\{each}" for each in "\\`*_[]<>#|~"}
_MARKED: Final = re.compile(r"[\\`*_\[\]<>#|~&]|\A[ \t]*[-+=0-9]")
"""A text without it stays as it is; most do."""
_SEEN: Final = 8
"""Characters that are looked at for each that is wanted; blanks and controls among them go."""
_LIST_MARKS: Final = ("-", "+", "=")
_DIGITS: Final = "0123456789"


def line(text: str) -> str:
    """A text as one line: blanks and line ends become one space, control characters go."""
    if not text.isprintable():  # what is printable needs no cleaning
        text = text.translate(_CLEAN)
    return " ".join(text.split())


def shortened(text: str, length: int) -> str:
    """A text as one line of at most so many characters."""
    seen = text[: _SEEN * length]  # a text may have megabytes
    whole = line(seen)
    if len(whole) <= length and len(seen) == len(text):
        return whole
    return f"{whole[: length - 1].rstrip()}…"


def markdown(text: str) -> str:
    """A text as one line of Markdown that means nothing but itself (CommonMark 2.4)."""
    return unmarked(line(text))


def quotation(text: str) -> str:
    """A text as a block quotation of Markdown: its lines stay lines, and none of them is markup."""
    lines = (" ".join(each.split()) for each in _lines(text))
    return "\n".join(f"> {unmarked(each)}" if each else ">" for each in lines) or ">"


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").translate(_CLEAN).splitlines()


def link(name: str, address: str) -> str:
    """A link of Markdown.

    Args:
        name: What it is called, as a stranger may have written it.
        address: A URL without blanks, such as those of the data model are.
    """
    return f"[{markdown(name)}]({address.replace('(', '%28').replace(')', '%29')})"


def unmarked(text: str) -> str:
    """A line with what means something in Markdown escaped; blanks before it stay."""
    if _MARKED.search(text) is None:
        return text
    body = text.lstrip(" \t")
    gap, text = text[: len(text) - len(body)], body
    number = len(text) - len(text.lstrip(_DIGITS))
    before = ""
    if number and text[number : number + 1] in {".", ")"}:
        before, text = f"{text[:number]}\\", text[number:]
    elif text.startswith(_LIST_MARKS):
        before = "\\"
    first, *others = text.translate(_MARKUP).split("&")
    entities = (f"\\&{each}" if each[:1].isalpha() else f"&{each}" for each in others)
    return f"{gap}{before}{first}{''.join(entities)}"
