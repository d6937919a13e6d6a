"""Find, read and check the configuration: every fault told at its place (interfaces.md 1.3, O11).

Faults come in one answer, from three readings of the same value: the YAML itself (``yaml_source``),
types and bounds (``schema``), and what a type cannot say (``syntax``, and what has to agree with
each other). A value from the environment takes the place of the file's before it is checked; its
faults name the variable.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from reviewsd.api.diagnostic import Diagnostic
from reviewsd.api.places import PLACES, ForeignFileError, find_configuration
from reviewsd.config import source_rules, syntax, yaml_source
from reviewsd.config.errors import ConfigError, by_place, of_file
from reviewsd.config.schema import Config, Lease, keys
from reviewsd.config.source_schema import NonEmptyText
from reviewsd.domain.data_errors import MISSING, explain, nearest
from reviewsd.domain.diagnostic_text import rendered

_PREFIX = "REVIEWSD_"
_UNKNOWN_KEY = "unknown key"
_LITERAL = "a secret is no key of the configuration"
_FILE_VARIABLE = "REVIEWSD_CONFIG"

_MAX_SOCKET_PATH = 107  # bytes; sun_path of unix(7) without its final NUL

_IPV6 = re.compile(r"https?://\[[0-9a-f:.]+\]", re.IGNORECASE)

_EXAMPLES = {
    "$.base_url": "base_url: https://reviews.example.com",
    "$.data_dir": "data_dir: /srv/reviews",
    "$.listen": "listen: [tcp:8080:interface=127.0.0.1]",
    "$.metrics.listen": "listen: tcp:9090:interface=127.0.0.1",
    "$.data.max_shrink": "max_shrink: 50%",
    "$.security.contact": "contact: [mailto:security@example.com]",
    "$.hub.callbacks.ports": 'ports: ["443", "1024-65535"]',
}

_RULES: Mapping[str, Callable[[str], object]] = {
    "base_url": syntax.origin,
    "listen[]": syntax.endpoint,
    "server.allowed_hosts[]": syntax.host_or_any,
    "server.trusted_proxies[]": syntax.network,
    "hub.store": syntax.store,
    "hub.callbacks.allow_networks[]": syntax.network,
    "hub.callbacks.ports[]": syntax.ports,
    "hub.callbacks.nat64_prefixes[]": syntax.nat64_prefix,
    "mcp.allowed_origins[]": syntax.origin_or_any,
    "mcp.registry_auth": syntax.proof,
    "security.contact[]": syntax.contact,
    "security.policy": syntax.web_page,
    "metrics.listen": syntax.endpoint,
}

_ADDRESS_REFUSED = (
    "unknown key: an address holds a password or token, so it stands in a file of its own, which only "
    "the daemon may read; for example: url_file: owner.url"
)

# The daemon does not stay in the folder it was started in; these are made absolute.
_PATHS = ("data_dir", "state_dir", "admin_socket")
_EVENTS = ("stars", "unanswered_days", "sources", "data")
"""The keys of a target of ``notify`` that name events."""

_OPTIONAL_PATHS = (
    "keys_dir",
    "hub.callbacks.ca_file",
    "mcp.session_key_file",
    "pages.templates_dir",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A configuration, and where it is from."""

    config: Config
    warnings: tuple[str, ...]
    """To log."""
    file: Path
    marks: Mapping[str, yaml_source.Mark]
    """The place of every value of the file, by JSON path (``$.hub.lease.min``)."""
    variables: Mapping[str, str]
    """The environment variables that took the place of values, by JSON path."""


def find(path: Path | None, environ: Mapping[str, str], places: Sequence[Path] = PLACES) -> Path:
    """Return the path of the configuration file.

    Args:
        path: The argument of ``--config``.
        environ: See ``find_configuration``.
        places: See ``find_configuration``.

    Raises:
        ConfigError: There is none, or the one in the current folder belongs to another user.
    """
    if path is not None:
        return path
    try:
        found = find_configuration(environ, places)
    except ForeignFileError as error:
        reason = f"belongs to uid {error.owner}; to use it all the same: --config {error.path}"
        raise ConfigError([of_file(str(error.path), reason)]) from error
    if found is not None:
        return found
    looked = ", ".join(str(place) for place in places)
    reason = f"no configuration found: no --config, no ${_FILE_VARIABLE}, and none of {looked}"
    remedy = "write one: reviewsctl init; or try: reviewsd --demo"
    raise ConfigError([Diagnostic(file="", reason=reason, lines=(reason, remedy))])


def load(
    path: Path | None, environ: Mapping[str, str], places: Sequence[Path] = PLACES
) -> tuple[Config, tuple[str, ...]]:
    """The configuration, and warnings to log; arguments and errors are those of ``examine``."""
    loaded = examine(path, environ, places)
    return loaded.config, loaded.warnings


def examine(
    path: Path | None, environ: Mapping[str, str], places: Sequence[Path] = PLACES
) -> Loaded:
    """Find, read and check the configuration.

    Args:
        path: The argument of ``--config``.
        environ: Environment; ``REVIEWSD_HUB__LEASE__DEFAULT=3600`` sets ``hub.lease.default``.
        places: Where to look when neither names a file.

    Raises:
        ConfigError: With all faults of file and environment.
    """
    file = find(path, environ, places)
    data, warnings = _read(file)
    document = yaml_source.read(data, str(file))
    tree = {} if document.value is None else document.value
    broken = set(document.broken)
    overrides, problems = _override(tree, environ, broken)
    faults = list(document.faults)
    for where, reason in [] if document.fatal else _check(tree, overrides, file.absolute().parent):
        if where in broken:
            continue
        variable = next(
            (overrides[key] for key in reversed(overrides) if _inside(where, key)), None
        )
        if variable is None:
            is_secret = reason.startswith(_LITERAL) or where.endswith((".url", ".header_file"))
            faults.append(
                document.fault(
                    where,
                    reason,
                    at_key=is_secret or reason.startswith(_UNKNOWN_KEY),
                    shows_line=not (
                        is_secret or where.startswith("$.notify")
                    ),  # it may have a token
                )
            )
        else:
            problems.append(_of_environment(variable, where, reason))
    problems[:0] = sorted(faults, key=by_place)
    if problems:
        raise ConfigError(problems)
    config = msgspec.convert(tree, Config)
    return Loaded(
        config=msgspec.structs.replace(config, base_url=syntax.origin(config.base_url)),
        warnings=(*warnings, *_weaknesses(config)),
        file=file,
        marks=document.values,
        variables=overrides,
    )


def _weaknesses(config: Config) -> Iterator[str]:
    """Yield a warning for each setting that is allowed and should be avoided."""
    if config.hub.signature_method == "sha1":
        yield "hub.signature_method: sha1 is weak; use sha256 unless a subscriber knows sha1 only"


def _read(file: Path) -> tuple[bytes, tuple[str, ...]]:
    """The file's bytes and warnings; who may write it decides what the daemon does (O11)."""
    try:
        with file.open("rb") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            data = stream.read(4 * yaml_source.MAX_CHARACTERS + 1)
    except OSError as error:
        raise ConfigError([of_file(str(file), f"cannot be read: {error.strerror}")]) from error
    if stat.S_ISREG(mode) and mode & stat.S_IWOTH:
        reason = f"refused, everybody may write it; run: chmod o-w {file}"
        raise ConfigError([of_file(str(file), reason)])
    if stat.S_ISREG(mode) and mode & stat.S_IWGRP:
        return data, (f"{file}: its group may write it; run: chmod g-w {file}",)
    return data, ()


def _override(
    tree: object, environ: Mapping[str, str], broken: set[str]
) -> tuple[dict[str, str], list[Diagnostic]]:
    """Put the values of environment variables into the tree.

    Returns:
        The variable that set each JSON path, and what is wrong with variables; the paths of
        those that have no value are added to ``broken``.
    """
    overrides: dict[str, str] = {}
    faults: list[Diagnostic] = []
    known = {_variable(key): key for key in keys(Config)}
    for variable in sorted(environ):
        if not variable.startswith(_PREFIX) or variable == _FILE_VARIABLE:
            continue
        if variable not in known:
            name = variable.encode("unicode_escape").decode()
            # compared without the prefix, which all have in common
            tails = [other.removeprefix(_PREFIX) for other in known]
            hint = nearest(name.removeprefix(_PREFIX).upper(), tails).replace('"', f'"{_PREFIX}', 1)
            faults.append(_of_environment(name, "", f"unknown variable{hint}"))
            continue
        document = yaml_source.read_value(environ[variable])
        path = f"$.{known[variable]}"
        for fault in document.faults:
            faults.append(_of_environment(variable, path, fault.reason))
            broken.add(path)
        *sections, key = known[variable].split(".")
        section = tree
        for name in sections:
            section = section.setdefault(name, {}) if isinstance(section, dict) else None
        if isinstance(section, dict):
            section[key] = document.value
            overrides[path] = variable
    return overrides, faults


def _variable(key: str) -> str:
    """Return the environment variable of a dotted key."""
    return _PREFIX + key.replace(".", "__").upper()


def _of_environment(variable: str, path: str, reason: str) -> Diagnostic:
    said = yaml_source.masked(": ".join(filter(None, (yaml_source.dotted(path), reason))))
    return rendered(Diagnostic(file="environment", path=variable, reason=said))


def _inside(path: str, outer: str) -> bool:
    return path == outer or path.startswith((f"{outer}.", f"{outer}["))


def _check(tree: object, overrides: Mapping[str, str], folder: Path) -> Iterator[tuple[str, str]]:
    """Every fault as (JSON path, reason); puts the last form of paths and origin into the tree."""
    if isinstance(tree, dict):
        yield from _place(tree, folder)
    for path, reason in explain(tree, Config):
        example = next((text for key, text in _EXAMPLES.items() if _inside(path, key)), None)
        if (secret := _secret_file(path, reason)) is not None:
            yield path, secret
            continue
        said = f"{reason}; for example: {example}" if example else reason
        key = yaml_source.dotted(path)
        if reason == MISSING and key in keys(Config):
            said += f", or the environment variable {_variable(key)}"
        if path.startswith("$.notify[") and path.endswith(".url"):
            said = _ADDRESS_REFUSED
        yield path, said
    for key, rule in _RULES.items():
        for path, text in _strings(tree, key.replace("[]", ".[]").split("."), "$"):
            try:
                rule(text)
            except ValueError as refusal:
                yield path, f"{refusal}"
    yield from _check_together(tree, overrides)
    yield from source_rules.check(_at(tree, "sources"))


def _secret_file(path: str, reason: str) -> str | None:
    """Return what to do where a source has a secret itself; None where it has none."""
    source, _, key = path.rpartition(".")
    if not source.startswith("$.sources[") or not reason.startswith(_UNKNOWN_KEY):
        return None
    name = source_rules.SECRET_FILES.get(key)
    if name is None:
        return None
    return f"{_LITERAL}: write it into a file that nobody else may read, and name that by {name}"


def _place(tree: dict[str, object], folder: Path) -> Iterator[tuple[str, str]]:
    """Make paths absolute, from the configuration's folder."""
    for key in _PATHS:
        if key in tree:
            faults = list(explain(tree[key], NonEmptyText, f"$.{key}"))
            yield from faults
            tree[key] = folder if faults else folder / str(tree[key])
    for section, _, key in (key.rpartition(".") for key in _OPTIONAL_PATHS):
        parent = _at(tree, section) if section else tree
        if isinstance(parent, dict) and isinstance(parent.get(key), str) and parent[key]:
            parent[key] = str(folder / parent[key])
    for target in _targets(tree):
        if isinstance(target.get("url_file"), str) and target["url_file"]:
            target["url_file"] = str(folder / target["url_file"])
    source_rules.place_files(tree.get("sources"), folder)
    length = len(str(tree.get("admin_socket", "")).encode())
    if length > _MAX_SOCKET_PATH:
        yield "$.admin_socket", f"expected at most {_MAX_SOCKET_PATH} bytes, got {length}"


def _check_together(tree: object, overrides: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What the type of one key cannot say."""
    if _at(tree, "listen") == []:
        yield "$.listen", "expected at least one endpoint"
    if _at(tree, "hub.callbacks.ports") == []:
        yield "$.hub.callbacks.ports", "expected at least one port"
    delays = _at(tree, "hub.delivery.retry_delays")
    if isinstance(delays, list) and len(delays) != 2:  # noqa: PLR2004 - seed 3: the third ends it
        yield "$.hub.delivery.retry_delays", f"expected 2 delays, got {len(delays)}"
    base_url = _at(tree, "base_url")
    if isinstance(base_url, str) and _IPV6.match(base_url) and not _at(tree, "feeds.authority"):
        yield "$.base_url", "an address cannot name the feeds (RFC 4151); set feeds.authority too"
    if _at(tree, "security.contact") and not _at(tree, "security.expires"):
        yield "$.security.contact", "needs security.expires too (RFC 9116)"
    if _at(tree, "security.expires") and not _at(tree, "security.contact"):
        yield "$.security.expires", "needs security.contact too (RFC 9116)"
    yield from _check_targets(tree)
    given = _at(tree, "hub.lease")
    try:
        lease = msgspec.convert({} if given is None else given, Lease)
    except msgspec.ValidationError:
        return
    if isinstance(given, dict) and not lease.min <= lease.default <= lease.max:
        paths = [f"$.hub.lease.{name}" for name in given]
        blamed = next((path for path in paths if path in overrides), paths[0])
        got = f"min {lease.min}, default {lease.default}, max {lease.max}"
        yield blamed, f"expected min <= default <= max, got {got}"


def _check_targets(tree: object) -> Iterator[tuple[str, str]]:
    names = [target.get("name") for target in _targets(tree)]
    for index, target in enumerate(_targets(tree)):
        if names.index(target.get("name")) < index:
            yield f"$.notify[{index}].name", "expected a name that no other target has"
        if not any(target.get(event) for event in _EVENTS):
            yield f"$.notify[{index}]", f"expected at least one of {', '.join(_EVENTS)}"


def _targets(tree: object) -> list[dict[str, Any]]:
    targets = _at(tree, "notify")
    return [each for each in targets if isinstance(each, dict)] if isinstance(targets, list) else []


def _at(tree: object, key: str) -> object:
    """The value of a dotted key; None where there is none."""
    for name in key.split("."):
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree


def _strings(tree: object, steps: Sequence[str], path: str) -> Iterator[tuple[str, str]]:
    """The strings at a dotted key with their paths; ``[]`` is every item."""
    match steps:
        case [] if isinstance(tree, str):
            yield path, tree
        case ["[]", *rest] if isinstance(tree, list):
            for index, item in enumerate(tree):
                yield from _strings(item, rest, f"{path}[{index}]")
        case [name, *rest] if isinstance(tree, dict) and name in tree:
            yield from _strings(tree[name], rest, f"{path}.{name}")
