"""Sets keys by environment variables: ``REVIEWSD_HUB__LEASE__DEFAULT`` is ``hub.lease.default``."""

from collections.abc import Mapping

from reviewsd.api.files import Diagnostic
from reviewsd.api.spelling import nearest
from reviewsd.config import yaml_source
from reviewsd.config.schema import Config, keys
from reviewsd.domain.diagnostic_text import rendered

FILE_VARIABLE = "REVIEWSD_CONFIG"
"""Names the configuration file."""

_PREFIX = "REVIEWSD_"


def variable(key: str) -> str:
    """Return the environment variable of a dotted key."""
    return _PREFIX + key.replace(".", "__").upper()


def override(
    tree: object, environ: Mapping[str, str], broken: set[str]
) -> tuple[dict[str, str], list[Diagnostic]]:
    """Put the values of environment variables into a configuration.

    Args:
        tree: The value of the file.
        environ: The environment.
        broken: Receives the paths of variables without a usable value.

    Returns:
        The variable of each JSON path that is set by one, and the faults of variables.
    """
    variables: dict[str, str] = {}
    faults: list[Diagnostic] = []
    key_of = {variable(key): key for key in keys(Config)}
    for name in sorted(environ):
        if not name.startswith(_PREFIX) or name == FILE_VARIABLE:
            continue
        if name not in key_of:
            faults.append(_unknown(name, list(key_of)))
            continue
        document = yaml_source.read_value(environ[name])
        path = f"$.{key_of[name]}"
        for fault in document.faults:
            faults.append(variable_fault(name, path, fault.reason))
            broken.add(path)
        *sections, key = key_of[name].split(".")
        section = tree
        for part in sections:
            section = section.setdefault(part, {}) if isinstance(section, dict) else None
        if isinstance(section, dict):
            section[key] = document.value
            variables[path] = name
    return variables, faults


def variable_fault(name: str, path: str, reason: str) -> Diagnostic:
    """Return a fault of a variable as text."""
    text = ": ".join(filter(None, (yaml_source.dotted(path), reason)))
    return rendered(Diagnostic(file="environment", path=name, reason=yaml_source.masked(text)))


def _unknown(name: str, variables: list[str]) -> Diagnostic:
    name = name.encode("unicode_escape").decode()
    key = name.removeprefix(_PREFIX)
    # Compared without the prefix, which all have in common
    hint = nearest(key.upper(), [candidate.removeprefix(_PREFIX) for candidate in variables])
    hint = hint.replace('"', f'"{_PREFIX}', 1)
    return variable_fault(name, "", f"unknown variable{hint}")
