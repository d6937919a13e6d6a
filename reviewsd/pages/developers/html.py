"""The Markdown of the documentation as HTML (CommonMark with the tables of GFM).

Markup in a text is shown and not obeyed, and markdown-it makes no links to scripts or data.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

_ANCHOR: Final = " {: #"
"""Begins the id at the end of a heading, as in ``## Topics {: #topics }``."""

_parser = MarkdownIt("commonmark", {"html": False}).enable("table")


def render(text: str, base_url: str, path: str) -> Markup:
    """Return a page as HTML, without its title, which the template of all pages shows.

    Args:
        text: The page.
        base_url: Origin of the site; links to it become relative.
        path: Path of the page; links within it become fragments.
    """
    tokens = _parser.parse(text)[3:]  # a heading is three tokens
    _annotate(tokens)
    for token in tokens:
        for child in token.children or ():
            if child.type == "link_open":
                href = str(child.attrs["href"]).removeprefix(base_url)
                child.attrs["href"] = href.removeprefix(path) if f"{path}#" in href else href
    html = _parser.renderer.render(list(_divided(tokens)), _parser.options, {})
    return Markup(html)  # noqa: S704  markdown-it has escaped every text


def _annotate(tokens: Sequence[Token]) -> None:
    """Give headings their ids, and tables the names and scopes that screen readers need."""
    section = ""
    for at, token in enumerate(tokens):
        match token.type:
            case "heading_open":
                text = (tokens[at + 1].children or [])[-1]
                section, _, anchor = text.content.rpartition(_ANCHOR)
                text.content = section
                token.attrs["id"] = anchor.removesuffix(" }")
            case "table_open":
                column = tokens[at + 4].content  # after thead, tr, th
                token.meta["label"] = f"{section}: {column}" if section else column
            case "th_open":
                token.attrs["scope"] = "col"
            case "tr_open" if tokens[at + 1].type == "td_open":
                first, last = tokens[at + 1], tokens[at + 3]
                first.tag = last.tag = "th"
                first.attrs["scope"] = "row"
            case "fence":
                token.info = ""  # the style sheet knows no languages


def _divided(tokens: Sequence[Token]) -> Iterator[Token]:
    """Put the sections of a page, and its tables, into elements that the style sheet knows."""
    yield _markup('<div class="start">\n')
    end = "</div>\n"
    for token in tokens:
        if token.type == "heading_open":
            yield _markup(f'{end}<div class="row">\n')
        elif token.type == "table_open":
            region = {"class": "scroll", "aria-label": token.meta["label"], "tabindex": "0"}
            yield Token("section_open", "section", 1, attrs=region, block=True)
        yield token
        if token.type == "heading_close":
            yield _markup("<div>\n")
            end = "</div>\n</div>\n"
        elif token.type == "table_close":
            yield Token("section_close", "section", -1, block=True)
    yield _markup(end)


def _markup(text: str) -> Token:
    return Token("html_block", "", 0, content=text)
