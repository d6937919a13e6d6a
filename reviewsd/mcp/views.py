"""Views of the results of tools, for hosts with MCP Apps (extension io.modelcontextprotocol/ui, 2026-01-26).

A host reads a view as a resource, shows it in a frame, and passes it the result of a tool. A view is one HTML document
that requests nothing: its policy allows its own script and style sheet alone, by their hashes. It depends on the pages of
the snapshot, whose words and colors it has, and never on a review.
"""

import base64
import hashlib
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from reviewsd.config.schema import DEFAULT_ACCENT
from reviewsd.domain.search_parameters import SEARCH_PARAMETERS
from reviewsd.http1.representation import Buffer
from reviewsd.mcp.introduction import business_of
from reviewsd.pages import theme
from reviewsd.pages.naming import is_own_website, source_name
from reviewsd.pages.words import Language, english
from reviewsd.snapshot.snapshots import Snapshot

MEDIA_TYPE: Final = "text/html;profile=mcp-app"

_SCHEME: Final = "ui://reviews/"
_TITLES: Final = {"business": "distribution", "search": "reviews", "summary": "summary_heading"}
"""The views, and the word that is the title of each."""

_WORDS: Final = (
    *("aspect_mentions", "aspect_mentions_one", "aspect_share", "distribution", "filter_named"),
    *("found", "found_none", "found_one", "more_reviews", "nameless", "no_reviews", "open_review"),
    *("rated_only", "reply", "review_count", "review_count_one", "see_all", "see_all_one", "star"),
    *("star_one", "stars", "summary_title", "verified"),
    *("areas", "problems", "services", "technicians", "topics"),
)
"""Words of the pages that the script uses."""

_SCRIPT, _STYLE = (
    (Path(__file__).parent / name).read_text().strip() for name in ("view.js", "view.css")
)

_DOCUMENT: Final = """\
<!DOCTYPE html>
<html lang="{tag}" dir="{direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '{script_hash}'; style-src '{style_hash}'; base-uri 'none'; form-action 'none'">
<title>{title}</title>
<style>{style}</style>
</head>
<body data-view="{view}">
<main></main>
<script type="application/json" id="settings">{settings}</script>
<script>{script}</script>
</body>
</html>
"""

_encode = msgspec.json.Encoder().encode


class _Embed(Struct, frozen=True):
    accent: str = DEFAULT_ACCENT


class _Pages(Struct, frozen=True):
    """The members of the frames of the pages that views use; the defaults are for a site without pages."""

    words: dict[str, str] = {}
    language: Language = Language(tag="en")
    embed: _Embed = _Embed()
    sources: tuple[str, ...] = ()


_pages = msgspec.json.Decoder(_Pages)


def address(view: str) -> str:
    """Return the address of a view, one of ``business``, ``search`` and ``summary``."""
    return _SCHEME + view


class Views:
    """The documents, made once for each snapshot."""

    def __init__(self) -> None:
        self._revision = ""
        self._results: Mapping[str, bytes] = {}

    def read(self, uri: str | None, snapshot: Snapshot) -> tuple[Buffer, ...] | None:
        """Return the result of ``resources/read``; None if the address is not that of a view."""
        if uri is None or not uri.startswith(_SCHEME):
            return None
        if self._revision != snapshot.revision:
            self._revision, self._results = snapshot.revision, _results(snapshot)
        result = self._results.get(uri)
        return None if result is None else (result,)


def _results(snapshot: Snapshot) -> dict[str, bytes]:
    pages = _Pages() if snapshot.pages is None else _pages.decode(snapshot.pages)
    words = {**english(), **pages.words}  # a snapshot of an earlier version lacks new words
    settings = _settings(pages, words, snapshot)
    results = {}
    for view, title in _TITLES.items():
        document = _DOCUMENT.format(
            tag=escape(pages.language.tag),
            direction=pages.language.direction,
            script_hash=_hash(_SCRIPT),
            style_hash=_hash(_STYLE),
            title=escape(words[title]),
            style=_STYLE,
            view=view,
            settings=settings,
            script=_SCRIPT,
        )
        content = {
            "uri": address(view),
            "mimeType": MEDIA_TYPE,
            "text": document,
            "_meta": {"ui": {"prefersBorder": True}},  # and no domains: nothing is requested
        }
        results[address(view)] = _encode({"contents": [content]})
    return results


def _settings(pages: _Pages, words: Mapping[str, str], snapshot: Snapshot) -> str:
    """Return the settings of the script, as JSON that can stand in HTML."""
    colors = theme.colours(pages.embed.accent)
    name = business_of(snapshot).name
    fields = {
        parameter.name: words[f"field_{parameter.name}"]
        for parameter in SEARCH_PARAMETERS
        if f"field_{parameter.name}" in words and parameter.name not in {"limit", "cursor"}
    }
    settings = {
        "words": {key: words[key].replace("{name}", name) for key in _WORDS},
        "fields": fields,
        "sources": {
            source: words["own_website"] if is_own_website(source) else source_name(source)
            for source in pages.sources
        },
        "origin": snapshot.manifest.base_url,
        "pages": snapshot.pages is not None,
        "language": pages.language.tag,
        "colors": {
            "accent": [colors["accent"], colors["accent_dark"]],
            "soft": [colors["accent_soft"], colors["accent_soft_dark"]],
        },
    }
    return _encode(settings).decode().replace("<", "\\u003c")


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
