"""Finds, reads and checks the configuration (interfaces.md 1.3, O11).

All faults of single keys are reported at once: those of the YAML, those of ``rules``, and those of environment
variables, which replace values of the file before these are checked. Without any, keys are compared.
"""

import os
import shlex
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from reviewsd.api.files import Diagnostic
from reviewsd.api.places import PLACES, ForeignFileError, find_configuration
from reviewsd.config import rules, syntax, yaml_source
from reviewsd.config.environment import FILE_VARIABLE, override, variable_fault
from reviewsd.config.errors import ConfigError, by_place, of_file
from reviewsd.config.schema import Config
from reviewsd.config.yaml_source import Mark, YamlDocument
from reviewsd.domain.diagnostic_text import rendered


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A configuration, and where its values come from."""

    config: Config
    warnings: tuple[str, ...]
    """Lines for the log."""
    file: Path
    marks: Mapping[str, Mark]
    """The place of each value of the file, by JSON path (``$.hub.lease.default``)."""
    variables: Mapping[str, str]
    """The environment variable of each value that is set by one, by JSON path."""

    def problem(self, fault: str) -> Diagnostic:
        """Return a fault of this valid configuration at the place of the key that it begins with."""
        line, column = self.marks.get(f"$.{fault.partition(':')[0]}") or (None, None)
        return rendered(Diagnostic(file=str(self.file), line=line, column=column, reason=fault))

    def placed(self, fault: str) -> str:
        """Return a fault of a start, with file and line if it begins with a key of the file."""
        problem = self.problem(fault)
        return fault if problem.line is None else problem.lines[0]


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
        file = find_configuration(environ, places)
    except ForeignFileError as error:
        reason = f"belongs to uid {error.owner}; to use it all the same: --config {shlex.quote(str(error.path))}"
        raise ConfigError([of_file(str(error.path), reason)]) from error
    if file is not None:
        return file
    names = ", ".join(str(place) for place in places)
    reason = f"no configuration found: no --config, no ${FILE_VARIABLE}, and none of {names}"
    remedy = "write one: reviewsctl init; or try: reviewsd --demo"
    raise ConfigError([Diagnostic(file="", reason=reason, lines=(reason, remedy))])


def load(
    path: Path | None,
    environ: Mapping[str, str],
    places: Sequence[Path] = PLACES,
    *,
    content: bytes | None = None,
) -> Loaded:
    """Find, read and check the configuration.

    Args:
        path: The argument of ``--config``.
        environ: The environment; ``REVIEWSD_HUB__LEASE__DEFAULT=3600`` sets ``hub.lease.default``.
        places: The files to look for if neither names one.
        content: What the file would have; None for what it has.

    Raises:
        ConfigError: With all faults of file and environment.
    """
    file = find(path, environ, places)
    data, warnings = _read(file) if content is None else (content, ())
    document = yaml_source.read(data, str(file))
    tree = {} if document.value is None else document.value
    broken = set(document.broken)
    variables, variable_faults = override(tree, environ, broken)
    faults = list(document.faults)
    findings = [] if document.fatal else list(rules.check(tree, file.absolute().parent))
    if not (findings or faults or variable_faults):
        findings = list(rules.check_agreement(msgspec.convert(tree, Config)))
    for place, reason in findings:
        if place in broken:
            continue
        if (name := variable_of(place, variables)) is not None:
            variable_faults.append(variable_fault(name, place, reason))
        else:
            faults.append(_file_fault(document, place, reason))
    if problems := sorted(faults, key=by_place) + variable_faults:
        raise ConfigError(problems)
    config = msgspec.convert(tree, Config)
    return Loaded(
        config=msgspec.structs.replace(config, base_url=syntax.origin(config.base_url)),
        warnings=(*warnings, *_weaknesses(config)),
        file=file,
        marks=document.values,
        variables=variables,
    )


def variable_of(path: str, variables: Mapping[str, str]) -> str | None:
    """Return the variable that sets the value at a path, the innermost first."""
    outer = (key for key in reversed([*variables]) if rules.is_inside(path, key))
    return next((variables[key] for key in outer), None)


def _file_fault(document: YamlDocument, path: str, reason: str) -> Diagnostic:
    is_secret = reason.startswith(rules.SECRET) or path.endswith((".url", ".header_file"))
    return document.fault(
        path,
        reason,
        at_key=is_secret or reason.startswith(rules.UNKNOWN_KEY),
        shows_line=not (is_secret or path.startswith("$.notify")),  # it may have a token
    )


def _weaknesses(config: Config) -> Iterator[str]:
    """Yield a warning for each setting that is allowed and should be avoided."""
    if config.hub.signature_method == "sha1":
        yield "hub.signature_method: sha1 is weak; use sha256 unless a subscriber knows sha1 only"
    ports = syntax.other_ports(config.base_url, config.listen)
    if ports:
        named = " or ".join(map(str, sorted(ports)))
        yield (
            f"base_url: {config.base_url} has another port than listen ({named}); without a proxy in "
            "front the links of the pages lead nowhere"
        )


def _read(file: Path) -> tuple[bytes, tuple[str, ...]]:
    """Return the bytes of the file, and warnings about its permissions (O11)."""
    try:
        with file.open("rb") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            data = stream.read(4 * yaml_source.MAX_CHARACTERS + 1)
    except OSError as error:
        raise ConfigError([of_file(str(file), f"cannot be read: {error.strerror}")]) from error
    if stat.S_ISREG(mode) and mode & stat.S_IWOTH:
        reason = f"refused, everybody may write it; run: chmod o-w {shlex.quote(str(file))}"
        raise ConfigError([of_file(str(file), reason)])
    if stat.S_ISREG(mode) and mode & stat.S_IWGRP:
        return data, (f"{file}: its group may write it; run: chmod g-w {shlex.quote(str(file))}",)
    return data, ()
