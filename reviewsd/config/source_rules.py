"""Rules of the section ``sources`` that the type of one key cannot express (sources.md 2)."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

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
_INTERVAL: Final = re.compile(r"[1-9][0-9]{0,4}[mhd]")
_RESOURCE: Final = re.compile(r"(?:accounts|locations)/[A-Za-z0-9_-]{1,64}")

GOOGLE_MAX_AGE: Final = "30d"
"""The terms of Google Business Profile allow content to be kept so long after it was last confirmed."""


def seconds(interval: str) -> int:
    """Return the seconds of an interval such as ``1h``."""
    return int(interval[:-1]) * _UNITS[interval[-1]]


def check(sources: object) -> Iterator[tuple[str, str]]:
    """Yield each fault of the sources as (JSON path, reason)."""
    if not isinstance(sources, list):
        return
    names = Counter(source.get("name") for source in sources if _is_named(source))
    for index, source in enumerate(sources):
        if isinstance(source, dict):
            path = f"$.sources[{index}]"
            if _is_named(source) and names[source["name"]] > 1:
                yield f"{path}.name", "two sources have this name"
            yield from _check_type(source, path)
            yield from _check_intervals(source, path)
            yield from _check_texts(source, path)


def _is_named(source: object) -> bool:
    return isinstance(source, dict) and isinstance(source.get("name"), str)


def _check_type(source: Mapping[str, object], path: str) -> Iterator[tuple[str, str]]:
    kind = source.get("type")
    if not isinstance(kind, str) or kind not in _NEEDED:
        return
    for key in _NEEDED[kind]:
        if source.get(key) is None:
            yield f"{path}.{key}", f"missing; a source of type {kind} needs it"
    for key in source:
        if key in _OF_TYPES and key not in (*_NEEDED[kind], *_ALLOWED[kind]):
            yield f"{path}.{key}", f"a source of type {kind} has no such key"


def _check_intervals(source: Mapping[str, object], path: str) -> Iterator[tuple[str, str]]:
    for key, (least, most) in _BOUNDS.items():
        value = source.get(key)
        if not isinstance(value, str) or _INTERVAL.fullmatch(value) is None:
            continue
        if key == "max_age" and source.get("type") == "google-business":
            most = GOOGLE_MAX_AGE  # noqa: PLW2901  # the terms of this one type
        if not seconds(least) <= seconds(value) <= seconds(most):
            yield f"{path}.{key}", f"expected {least} to {most}, got {value}"


def _check_texts(source: Mapping[str, object], path: str) -> Iterator[tuple[str, str]]:
    url = source.get("url")
    if isinstance(url, str) and url:
        try:
            parts = urlsplit(url)
            is_usable = bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_usable = False
        else:
            is_usable &= parts.scheme == "https" or (
                parts.scheme == "http" and source.get("allow_private") is True
            )
        if not is_usable:
            yield f"{path}.url", "expected an https address (http only with allow_private: true)"
        elif parts.username or parts.password:
            yield f"{path}.url", "a password belongs into a file of its own: header_file"
    for key, kind in (("account", "accounts"), ("location", "locations")):
        value = source.get(key)
        if isinstance(value, str) and not (
            _RESOURCE.fullmatch(value) and value.startswith(f"{kind}/")
        ):
            yield f"{path}.{key}", f'expected a name such as "{kind}/1234"'
