"""A page of documentation as Markdown: what its ``.md`` address answers."""

from collections.abc import Iterable, Iterator
from urllib.parse import urljoin

from reviewsd.pages.developers.blocks import (
    Code,
    ContentBlock,
    DeveloperPage,
    Items,
    Paragraph,
    Table,
    TextPart,
)
from reviewsd.pages.text import markdown


def render(page: DeveloperPage, base_url: str) -> bytes:
    """The page.

    Args:
        page: What it says.
        base_url: What comes before addresses without an origin: a reader of Markdown knows none.
    """
    here = base_url + page.path
    lines = [f"# {markdown(page.title)}", *_blocks(page.blocks, here)]
    for section in page.sections:
        heading = f"{'#' * section.level} {markdown(section.title)}"
        lines += [heading, *_blocks(section.blocks, here)]
    return "\n\n".join(lines).encode() + b"\n"


def _blocks(blocks: Iterable[ContentBlock], here: str) -> Iterator[str]:
    for block in blocks:
        match block:
            case Paragraph():
                yield _text(block.parts, here)
            case Items():
                yield "\n".join(f"- {_text(each, here)}" for each in block.lines)
            case Code():
                yield f"```{block.language}\n{block.text}\n```"
            case Table():
                rows = [[_text(cell, here) for cell in row] for row in block.cells]
                yield "\n".join(map(_row, (block.head, ["---"] * len(block.head), *rows)))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _text(parts: Iterable[TextPart], here: str) -> str:
    return "".join(_part(part, here) for part in parts)


def _part(part: TextPart, here: str) -> str:
    # In a table a bar would end the cell even within code (GFM 4.10).
    shown = f"`{part.text.replace('|', chr(92) + '|')}`" if part.code else _words(part.text)
    if not part.href:
        return shown
    # Headings have no anchors of ours in Markdown: a link to one leads to the page for people.
    return f"[{shown}]({urljoin(here, part.href)})"


def _words(text: str) -> str:
    """Words; the blanks around them divide them from what stands beside."""
    before = " " if text[:1] == " " else ""
    after = " " if text[-1:] == " " and text.strip() else ""
    return f"{before}{markdown(text)}{after}"
