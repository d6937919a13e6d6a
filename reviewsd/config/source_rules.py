"""Rules of the section ``sources`` that the type of one key cannot express (sources.md 2)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from reviewsd.config.source_schema import ReviewSource

SECRET_FILES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("key", "api_key", "apikey"), "key_file"),
    **dict.fromkeys(("secret", "api_secret", "client_secret", "password"), "secret_file"),
    **dict.fromkeys(("header", "headers", "token", "authorization", "bearer"), "header_file"),
}
"""Keys that a secret is expected under, and the key that names its file instead."""

FILES: Final = ("path", "header_file", "client_file", "key_file", "secret_file")
"""Keys that name a file."""

_NEEDED: Final[Mapping[str, Sequence[str]]] = {
    "file": ("path",),
    "url": ("url",),
    "google-business": ("account", "location"),
    "trustpilot": ("business_unit",),
}
_ALLOWED: Final[Mapping[str, Sequence[str]]] = {
    "file": (),
    "url": ("header_file", "allow_private"),
    "google-business": ("client_file",),
    "trustpilot": ("key_file", "secret_file"),
}
_OF_TYPES: Final = frozenset(
    key for keys in (*_NEEDED.values(), *_ALLOWED.values()) for key in keys
)
_BOUNDS: Final[Mapping[str, tuple[str, str]]] = {
    "every": ("5m", "7d"),
    "full": ("5m", "30d"),
    "max_age": ("1d", "3650d"),
}
_UNITS: Final = {"m": 60, "h": 3_600, "d": 86_400}

GOOGLE_MAX_AGE: Final = "30d"
"""The terms of Google Business Profile allow content to be kept so long after it was last confirmed."""


def seconds(interval: str) -> int:
    """Return the seconds of an interval such as ``1h``."""
    return int(interval[:-1]) * _UNITS[interval[-1]]


def check(sources: Sequence[ReviewSource]) -> Iterator[tuple[str, str]]:
    """Yield each fault of the sources as (JSON path, reason)."""
    names = Counter(source.name for source in sources)
    for index, source in enumerate(sources):
        path = f"$.sources[{index}]"
        if names[source.name] > 1:
            yield f"{path}.name", "two sources have this name"
        yield from _check_type(source, path)
        yield from _check_intervals(source, path)
        if source.url is not None:
            yield from _check_url(source.url, path, is_private=source.allow_private)


def _check_type(source: ReviewSource, path: str) -> Iterator[tuple[str, str]]:
    needed = _NEEDED[source.type]
    for key in needed:
        if getattr(source, key) is None:
            yield f"{path}.{key}", f"missing; a source of type {source.type} needs it"
    for key in sorted(_OF_TYPES.difference(needed, _ALLOWED[source.type])):
        if getattr(source, key):
            yield f"{path}.{key}", f"a source of type {source.type} has no such key"


def _check_intervals(source: ReviewSource, path: str) -> Iterator[tuple[str, str]]:
    for key, (least, most) in _BOUNDS.items():
        value = getattr(source, key)
        if key == "max_age" and source.type == "google-business":
            most = GOOGLE_MAX_AGE  # noqa: PLW2901  # the terms of this one type
        if value is not None and not seconds(least) <= seconds(value) <= seconds(most):
            yield f"{path}.{key}", f"expected {least} to {most}, got {value}"


def _check_url(url: str, path: str, *, is_private: bool) -> Iterator[tuple[str, str]]:
    try:
        parts = urlsplit(url)
        is_usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    else:
        is_usable &= parts.scheme == "https" or (parts.scheme == "http" and is_private)
    if not is_usable:
        yield f"{path}.url", "expected an https address (http only with allow_private: true)"
    elif parts.username or parts.password:
        yield f"{path}.url", "a password belongs into a file of its own: header_file"
