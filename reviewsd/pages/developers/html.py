"""A page of documentation as HTML: what stands in its frame (``developers.html``).

Made here and not by a template: the pages have thousands of short texts, which a template takes three times as
long for, and what they say is ours, not the operator's.
"""

import html
from collections.abc import Iterable, Iterator

from markupsafe import Markup

from reviewsd.pages.developers.blocks import (
    Code,
    ContentBlock,
    DeveloperPage,
    Items,
    Paragraph,
    Table,
    TextPart,
)
from reviewsd.pages.environment import printed


def render(page: DeveloperPage) -> Markup:
    """The blocks and sections of the page."""
    lines = ['<div class="start">', *_blocks(page.blocks), "</div>"]
    for section in page.sections:
        level = f"h{section.level}"
        lines += [
            '<div class="row">',
            f'<{level} id="{_text(section.anchor)}">{_text(section.title)}</{level}>',
            "<div>",
            *_blocks(section.blocks),
            "</div>",
            "</div>",
        ]
    return Markup("\n".join(lines))  # noqa: S704  each text in it is escaped


def _blocks(blocks: Iterable[ContentBlock]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Paragraph():
                yield f"<p>{_words(block.parts)}</p>"
            case Items():
                yield "<ul>"
                for line in block.lines:
                    yield f"<li>{_words(line)}</li>"
                yield "</ul>"
            case Code():
                yield f"<pre><code>{_text(block.text)}</code></pre>"
            case Table():
                yield from _table(block)


def _table(table: Table) -> Iterator[str]:
    yield f'<section class="scroll" aria-label="{_text(table.label)}" tabindex="0">'
    head = "".join(f'<th scope="col">{_text(name)}</th>' for name in table.head)
    yield f"<table>\n<thead>\n<tr>{head}</tr>\n</thead>\n<tbody>"
    for first, *rest in table.cells:
        cells = "".join(f"<td>{_words(cell)}</td>" for cell in rest)
        yield f'<tr><th scope="row">{_words(first)}</th>{cells}</tr>'
    yield "</tbody>\n</table>\n</section>"


def _words(parts: Iterable[TextPart]) -> str:
    return "".join(map(_part, parts))


def _part(part: TextPart) -> str:
    shown = _text(part.text)
    if part.code:
        shown = f"<code>{shown}</code>"
    return f'<a href="{_text(part.href)}">{shown}</a>' if part.href else shown


def _text(text: str) -> str:
    return html.escape(printed(text))
