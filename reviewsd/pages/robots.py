"""robots.txt: what crawlers may read (RFC 9309, contentsignals.org, pages.md 5)."""

from typing import Final

from reviewsd.config.schema import Crawlers
from reviewsd.http1 import urls

TRAINING: Final = (
    "GPTBot",
    "ClaudeBot",
    "Google-Extended",
    "Applebot-Extended",
    "CCBot",
    "Bytespider",
)
"""Agents that collect texts for training models."""

ANSWERING: Final = ("OAI-SearchBot", "ChatGPT-User", "Claude-SearchBot", "PerplexityBot")
"""Agents of AI products that read a page to answer with it."""

_FILTERED: Final = "Disallow: /reviews?"  # endless: every combination of filters is an address
_NOTHING: Final = "Disallow: /"

_SIGNALS: Final[dict[Crawlers, str]] = {
    "all": "search=yes, ai-input=yes, ai-train=yes",
    "no-training": "search=yes, ai-input=yes, ai-train=no",
    "no-ai": "search=yes, ai-input=no, ai-train=no",
    "none": "search=no, ai-input=no, ai-train=no",
}
_REFUSED: Final[dict[Crawlers, tuple[str, ...]]] = {
    "all": (),
    "no-training": TRAINING,
    "no-ai": (*TRAINING, *ANSWERING),
    "none": (),
}


def render(base_url: str, crawlers: Crawlers, *, sitemap: bool = True) -> bytes:
    """Return the document; it names the sitemap if one is served."""
    signal = f"Content-Signal: {_SIGNALS[crawlers]}"
    if crawlers == "none":
        return _document((("User-agent: *", signal, _NOTHING),))
    # A crawler reads only the group that names it (RFC 9309 2.2.1), so each group has all rules.
    rules = (signal, "Allow: /", _FILTERED)
    refused = _REFUSED[crawlers]
    allowed = tuple(agent for agent in (*TRAINING, *ANSWERING) if agent not in refused)
    return _document(
        (
            ("User-agent: *", *rules),
            (*_agents(allowed), *rules) if allowed else (),
            (*_agents(refused), signal, _NOTHING) if refused else (),
            (f"Sitemap: {base_url}{urls.SITEMAP}",) if sitemap else (),
        )
    )


def _agents(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"User-agent: {name}" for name in names)


def _document(groups: tuple[tuple[str, ...], ...]) -> bytes:
    return "\n\n".join("\n".join(group) for group in groups if group).encode() + b"\n"
