"""What a page of documentation consists of, for its HTML and its Markdown alike.

Texts are our own, so backquotes in them stand for code, as in the OpenAPI document, which is where
most of them come from.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple


class TextPart(NamedTuple):
    """A piece of a text."""

    text: str
    code: bool = False
    href: str = ""
    """Where it links to; empty where it does not."""


@dataclass(frozen=True, slots=True)
class Link:
    """Words that link somewhere."""

    text: str
    href: str


Words = str | Link | tuple[str | Link, ...]
"""A text on one line; what is between backquotes is code."""


@lru_cache(maxsize=4096)  # each is asked for twice, by HTML and by Markdown
def parts(words: Words) -> tuple[TextPart, ...]:
    """The pieces of a text: words, code, links."""
    found: list[TextPart] = []
    for each in words if isinstance(words, tuple) else (words,):
        if isinstance(each, Link):
            code = each.text.startswith("`")
            found.append(TextPart(each.text.strip("`"), code, each.href))
        else:
            pieces = each.split("`")
            found += (
                TextPart(piece, index % 2 == 1) for index, piece in enumerate(pieces) if piece
            )
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph."""

    words: Words

    kind = "paragraph"

    @property
    def parts(self) -> tuple[TextPart, ...]:
        """Its pieces."""
        return parts(self.words)


@dataclass(frozen=True, slots=True)
class Items:
    """A list without an order."""

    entries: tuple[Words, ...]

    kind = "items"

    @property
    def lines(self) -> tuple[tuple[TextPart, ...], ...]:
        """The pieces of each entry."""
        return tuple(map(parts, self.entries))


@dataclass(frozen=True, slots=True)
class Code:
    """Lines to copy."""

    text: str
    language: str = ""
    """As the fence of a Markdown block names it."""

    kind = "code"


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the first cell of a row names it."""

    label: str
    """What it lists, for who cannot see it."""
    head: tuple[str, ...]
    rows: tuple[tuple[Words, ...], ...]

    kind = "table"

    @property
    def cells(self) -> tuple[tuple[tuple[TextPart, ...], ...], ...]:
        """The pieces of each cell of each row."""
        return tuple(tuple(map(parts, row)) for row in self.rows)


ContentBlock = Paragraph | Items | Code | Table


@dataclass(frozen=True, slots=True)
class Section:
    """A part with a heading of its own, which links can lead to."""

    anchor: str
    title: str
    blocks: tuple[ContentBlock, ...]
    level: int = 2
    """Of the heading, 2 or 3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeveloperPage:
    """One page."""

    path: str
    title: str
    description: str
    """One sentence for search engines."""
    blocks: tuple[ContentBlock, ...]
    """What comes before the first section."""
    sections: tuple[Section, ...] = ()


def prose(text: str) -> tuple[ContentBlock, ...]:
    """The blocks of a text of ours in CommonMark: paragraphs, and lists with hyphens."""
    blocks: list[ContentBlock] = []
    for paragraph in text.strip().split("\n\n"):
        if paragraph.startswith("- "):
            entries = ("\n" + paragraph).split("\n- ")[1:]
            blocks.append(Items(tuple(" ".join(entry.split()) for entry in entries)))
        else:
            blocks.append(Paragraph(" ".join(paragraph.split())))
    return tuple(blocks)
