"""The lines that owners copy into their own websites."""

from html import escape
from typing import Final

from reviewsd.domain.embed_options import AUTO, BADGE, DARK, LIGHT, BadgeOptions, EmbedOptions
from reviewsd.http1 import urls

SIZES: Final = {"s": (132, 28), "m": (220, 64), "l": (320, 96)}
"""Width and height of the badge, by its size."""

_SCHEMES: Final = {LIGHT: "light", DARK: "dark", AUTO: "light dark"}
"""The ``color-scheme`` of a frame: with another one than its content has, browsers put a ground behind it."""

_HEAD, _REVIEW, _MOST = 250, 160, 900
"""Height of a frame that nothing fits to its content, in CSS pixels: without reviews, of a review, at most."""

_BADGE = 90

_WIDE_HEAD, _WIDE_REVIEW = 230, 100
"""Both heights for a width of a thousand pixels."""


def script_line(base_url: str, options: EmbedOptions, title: str) -> str:
    """Return the script in one line, with a link of this title for visitors without JavaScript."""
    attributes = "".join(
        f' data-{name.replace("_", "-")}="{escape(value)}"'
        for name, value in options.changed().items()
    )
    link = f'<a href="{escape(base_url + urls.LIST)}">{escape(title, quote=False)}</a>'
    return (
        f'<script async src="{escape(base_url + urls.EMBED_SCRIPT)}"{attributes}></script>'
        f"<noscript>{link}</noscript>"
    )


def frame_line(base_url: str, options: EmbedOptions, title: str) -> str:
    """Return the frame without a script; its title is its name for screen readers."""
    return (
        f'<iframe src="{escape(base_url + embed_path(options))}" title="{escape(title)}" '
        f'loading="lazy" height="{frame_height(options)}" '
        f'style="width:100%;border:0;color-scheme:{_SCHEMES[options.theme]}"></iframe>'
    )


def badge_line(base_url: str, options: BadgeOptions, title: str) -> str:
    """Return the badge, which links to the site."""
    width, height = SIZES[options.size]
    query = options.query()
    source = f"{base_url}{urls.BADGE}{'?' if query else ''}{query}"
    return (
        f'<a href="{escape(base_url)}/"><img src="{escape(source)}" width="{width}" '
        f'height="{height}" alt="{escape(title)}"></a>'
    )


def embed_path(options: EmbedOptions) -> str:
    """Return the address of an embed, without the origin."""
    query = options.query()
    return f"{urls.EMBED}?{query}" if query else urls.EMBED


def frame_height(options: EmbedOptions) -> int:
    """Return the height of a frame that nothing fits to its content, for a width of some 340 pixels."""
    return _height(options, _HEAD, _REVIEW)


def preview_height(options: EmbedOptions) -> int:
    """Return the height of the frame on the page that configures the embed."""
    return _height(options, _WIDE_HEAD, _WIDE_REVIEW)


def _height(options: EmbedOptions, head: int, review: int) -> int:
    return _BADGE if options.layout == BADGE else min(head + review * options.count, _MOST)
