"""The embed, its script, the badge, and the page that configures them (pages.md 7)."""

import hashlib
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Final

from markupsafe import Markup
from msgspec import structs

from reviewsd.domain.embed_options import (
    AUTO,
    BADGE,
    DARK,
    EMBED_PARAMETERS,
    LIGHT,
    BadgeOptions,
    EmbedOptions,
)
from reviewsd.domain.issues import Issue
from reviewsd.http1 import urls
from reviewsd.pages import theme
from reviewsd.pages.developers import pages as documentation
from reviewsd.pages.developers.pages import EMBED as SETUP
from reviewsd.pages.document import HTML, SVG, FixedDocument
from reviewsd.pages.embed_lines import SIZES, badge_line, frame_line, script_line
from reviewsd.pages.embed_pages import EmbedPages
from reviewsd.pages.frames import EmbedFrames, Frames, frame
from reviewsd.pages.home import stars_filled
from reviewsd.pages.rendering import Page, Renderer
from reviewsd.pages.text import line, shortened

JAVASCRIPT: Final = "text/javascript; charset=utf-8"

TEMPLATES: Final = (
    *("embed.css", "embed_card.html", "embed_issues.html"),
    *("embed_form.html", "embed_result.html"),
)
"""The templates that are rendered for a request."""

_POLICY: Final = (
    "default-src 'none'; style-src '{style}'; script-src '{script}'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors *"
)
"""The policy of the embed: any site may show it in a frame, and it runs its own script only."""

_MAX_NAME: Final = 24
"""Characters of the name in the large badge."""

_MAX_TITLE: Final = 60
"""Characters of the title in the script, which has at most a kilobyte."""


def frames(renderer: Renderer) -> EmbedFrames:
    """Return everything that requests with options need."""
    script = _packed(renderer.templates.render("embed_height.js"))
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    facts = {"script": Markup(script), **_score(renderer)}  # noqa: S704  ours
    setup = _setup(renderer)
    reviews, badge, invalid = (
        _page(renderer, f"embed_{name}.html") for name in ("reviews", "badge", "invalid")
    )
    return EmbedFrames(
        accent=renderer.site.settings.accent.lower(),
        headers={
            "Content-Security-Policy": _POLICY.replace("{script}", f"sha256-{digest}"),
            "Link": renderer.headers(reviews)["Link"],
        },
        reviews=frame(renderer, reviews, "sheet", "layout", "note", "cards", **facts),
        badge=frame(renderer, badge, "sheet", **facts),
        invalid=frame(renderer, invalid, "sheet", "issues", **facts),
        setup=frame(renderer, setup, "form", "result"),
        setup_headers=renderer.headers(setup),
        pictures={
            f"{size} {scheme}": _picture(renderer, size, scheme)
            for size in SIZES
            for scheme in (LIGHT, DARK)
        },
    )


def documents(renderer: Renderer, published: Frames) -> Iterator[FixedDocument]:
    """Render what is served without options, and the script."""
    pages = EmbedPages(published, renderer.templates)
    if renderer.site.templates:
        _try_templates(pages)
    options = EmbedOptions()
    sheet = pages.sheet(options.theme, options.accent)
    yield FixedDocument(
        path=urls.EMBED,
        media_type=HTML,
        content=pages.embed(options, renderer.site.newest[: options.count]),
        headers=published.embed.headers_with(sheet.digest),
    )
    yield FixedDocument(
        path=urls.EMBED_SCRIPT, media_type=JAVASCRIPT, content=_script(renderer).encode()
    )
    yield FixedDocument(
        path=urls.BADGE,
        media_type=SVG,
        content=published.embed.picture(BadgeOptions()).encode(),
    )
    lines = {
        name: line_of(renderer.site.base_url, options, _title(renderer))
        for name, line_of in (("script", script_line), ("frame", frame_line))
    }
    twin = _text(renderer, lines).encode()
    yield from renderer.documents(_setup(renderer), pages.setup(options), twin)


def _page(renderer: Renderer, template: str) -> Page:
    title = _title(renderer)
    return Page(path=urls.EMBED, title=title, description="", template=template, indexed=False)


def _score(renderer: Renderer) -> dict[str, object]:
    """Return the rating and the number of all reviews."""
    return {
        "average": renderer.average(),
        "filled": stars_filled(renderer.site.average),
        "count": renderer.count(),
    }


def _script(renderer: Renderer) -> str:
    """Return the script that puts the embed in its own place."""
    title = shortened(_title(renderer), _MAX_TITLE)
    names = [parameter.name for parameter in EMBED_PARAMETERS]
    text = renderer.templates.render("embed.js", names=names, title=title)
    return _packed(text)


def _packed(script: str) -> str:
    """Return a script without the indentation of its lines."""
    return "\n".join(part.strip() for part in script.splitlines())


def _picture(renderer: Renderer, size: str, scheme: str) -> str:
    ground = theme.DARK if scheme == DARK else theme.LIGHT
    width, height = SIZES[size]
    return renderer.templates.render(
        "badge.svg",
        size=size,
        scheme=scheme,
        width=width,
        height=height,
        short_name=shortened(renderer.site.business.name, _MAX_NAME),
        ground=ground,
        **theme.shades(renderer.site.settings.accent, ground),
        **_score(renderer),
    )


def _setup(renderer: Renderer) -> Page:
    """Return the page that configures the embed; its lines are those of the request."""
    words = renderer.words
    head = structs.replace(SETUP, title=words("embed_setup"), description=words("embed_setup_text"))
    text = _text(renderer)
    return documentation.page_of(renderer, head, text, "embed_setup.html", has_frame=True)


def _text(renderer: Renderer, lines: Mapping[str, str] | None = None) -> str:
    """Return the text about the embed as Markdown.

    Args:
        renderer: The renderer of the site.
        lines: The script and the frame without options; None if the page has them anyway.
    """
    base_url = renderer.site.base_url
    return renderer.templates.render(
        SETUP.template,
        page=SETUP,
        base_url=base_url,
        lines=lines,
        badge_line=badge_line(base_url, BadgeOptions(), _title(renderer)),
        sizes=SIZES,
        parameters=EMBED_PARAMETERS,
    )


def _title(renderer: Renderer) -> str:
    """Return the name of the embed, as one line."""
    return line(renderer.words("embed_title", name=renderer.site.business.name))


def _try_templates(pages: EmbedPages) -> None:
    """Render with unusual options, so that a faulty template is refused before a client needs it.

    Raises:
        TemplateError: A template is faulty.
    """
    issues = [
        Issue(code="", path=(name,), message="")
        for name in (*(parameter.name for parameter in EMBED_PARAMETERS), "")
    ]
    pages.sheet(AUTO, None)
    pages.embed(EmbedOptions(layout=BADGE), ())
    pages.embed(EmbedOptions(min_rating=2), ())
    pages.embed(EmbedOptions(min_rating=5), ())
    pages.invalid(issues, EMBED_PARAMETERS)
    pages.invalid_setup(b"", issues)
