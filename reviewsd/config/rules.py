"""Checks a configuration: types and bounds, the grammar of strings, and then keys that must agree (O11)."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from reviewsd.api.places import absolute
from reviewsd.config import source_rules, syntax, yaml_source
from reviewsd.config.environment import variable
from reviewsd.config.schema import Config, keys
from reviewsd.config.source_schema import NonEmptyText
from reviewsd.domain.data_errors import MISSING, explain

UNKNOWN_KEY = "unknown key"
"""The beginning of a fault that is shown at the key, not at its value."""

SECRET = "a secret is no key of the configuration"  # noqa: S105  # a message
"""The beginning of a fault that is reported without its line."""

_ADDRESS_REFUSED = (
    f"{UNKNOWN_KEY}: an address holds a password or token, so it stands in a file of its own, which only "
    "the daemon may read; for example: url_file: owner.url"
)

_MAX_SOCKET_PATH = 107  # bytes; sun_path of unix(7) without its final NUL

_IPV6 = re.compile(r"https?://\[[0-9a-f:.]+\]", re.IGNORECASE)

_GRAMMARS: Mapping[str, Callable[[str], object]] = {
    "base_url": syntax.origin,
    "listen[]": syntax.endpoint,
    "server.allowed_hosts[]": syntax.host_or_any,
    "server.trusted_proxies[]": syntax.network,
    "hub.store": syntax.store,
    "hub.callbacks.allow_networks[]": syntax.network,
    "hub.callbacks.nat64_prefixes[]": syntax.nat64_prefix,
    "mcp.allowed_origins[]": syntax.origin_or_any,
    "mcp.registry_auth": syntax.proof,
    "security.contact[]": syntax.contact,
    "metrics.listen": syntax.endpoint,
}

_EVENTS = ("stars", "unanswered_days", "sources", "data")
"""The keys of a target of ``notify`` that name events."""

# Made absolute, because the daemon does not stay in the folder it was started in
_PATHS = ("data_dir", "state_dir", "admin_socket")
_OPTIONAL_PATHS = (
    *("hub.callbacks.ca_file", "mcp.session_key_file", "pages.templates_dir", "notify[].url_file"),
    *(f"sources[].{key}" for key in source_rules.FILES),
)


def check(tree: object, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield each fault of one key as a JSON path and a reason.

    Args:
        tree: The value of the file; its relative paths are replaced by absolute ones.
        folder: The folder at which relative paths start.
    """
    if isinstance(tree, dict):
        yield from _place(tree, folder)
    for path, reason in explain(tree, Config):
        yield path, _with_remedy(path, reason)
    for key, grammar in _GRAMMARS.items():
        for path, section, name in _values_at(tree, key):
            try:
                if isinstance(section[name], str):
                    grammar(section[name])
            except ValueError as error:
                yield path, f"{error}"


def check_agreement(config: Config) -> Iterator[tuple[str, str]]:
    """Yield the faults of keys that do not agree with each other, as ``check`` does."""
    if not config.listen:
        yield "$.listen", "expected at least one endpoint"
    if _IPV6.match(config.base_url) and not config.feeds.authority:
        yield "$.base_url", "an address cannot name the feeds (RFC 4151); set feeds.authority too"
    if config.metrics.listen in config.listen:
        yield "$.metrics.listen", "expected an endpoint that listen has not"
    if config.security.contact and not config.security.expires:
        yield "$.security.contact", "needs security.expires too (RFC 9116)"
    if config.security.expires and not config.security.contact:
        yield "$.security.expires", "needs security.contact too (RFC 9116)"
    names: set[str] = set()
    for index, target in enumerate(config.notify):
        path = f"$.notify[{index}]"
        if target.name in names:
            yield f"{path}.name", "expected a name that no other target has"
        names.add(target.name)
        if not any(getattr(target, event) for event in _EVENTS):
            yield path, f"expected at least one of {', '.join(_EVENTS)}"
    yield from source_rules.check(config.sources)


def _with_remedy(path: str, reason: str) -> str:
    """Return a reason with what to do about it."""
    key = yaml_source.dotted(path)
    if reason.startswith(UNKNOWN_KEY):
        section, _, name = path.rpartition(".")
        if section.startswith("$.sources[") and name in source_rules.SECRET_FILES:
            file = source_rules.SECRET_FILES[name]
            return (
                f"{SECRET}: write it into a file that nobody else may read, and name that by {file}"
            )
        if path.startswith("$.notify[") and name == "url":
            return _ADDRESS_REFUSED
    if reason.startswith(MISSING) and key in keys(Config):
        reason += f", or the environment variable {variable(key)}"
    return reason


def is_inside(path: str, outer: str) -> bool:
    """Return whether a JSON path is another one or inside of it."""
    return path == outer or path.startswith((f"{outer}.", f"{outer}["))


def _place(tree: dict[str, object], folder: Path) -> Iterator[tuple[str, str]]:
    """Make paths absolute; yield the faults of those that are required."""
    for key in _PATHS:
        if key in tree:
            faults = list(explain(tree[key], NonEmptyText, f"$.{key}"))
            yield from faults
            tree[key] = folder if faults else absolute(folder / str(tree[key]))
    for key in _OPTIONAL_PATHS:
        for _, section, name in _values_at(tree, key):
            if isinstance(section[name], str) and section[name]:
                section[name] = str(absolute(folder / section[name]))
    length = len(str(tree.get("admin_socket", "")).encode())
    if length > _MAX_SOCKET_PATH:
        yield "$.admin_socket", f"expected at most {_MAX_SOCKET_PATH} bytes, got {length}"


def _values_at(tree: object, key: str, path: str = "$") -> Iterator[tuple[str, Any, Any]]:
    """Yield (JSON path, section, name) of each value at a dotted key; ``[]`` is every item of a list."""
    outer, _, inner = key.partition(".")
    name, is_list = outer.removesuffix("[]"), outer.endswith("[]")
    if not isinstance(tree, dict) or name not in tree:
        return
    places: list[tuple[str, Any, Any]] = [(f"{path}.{name}", tree, name)]
    if is_list:
        items = tree[name] if isinstance(tree[name], list) else []
        places = [(f"{path}.{name}[{index}]", items, index) for index in range(len(items))]
    for place, section, step in places:
        if inner:
            yield from _values_at(section[step], inner, place)
        else:
            yield place, section, step
