"""Adds and removes sources in the configuration file, and leaves everything else in it as it is written."""

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import yaml

from reviewsctl.files.folders import opened, real
from reviewsctl.importing.settings import BOOLEANS
from reviewsctl.terminal.errors import CommandError
from reviewsd.config import load as configuration
from reviewsd.config.errors import ConfigError
from reviewsd.config.yaml_source import scalar

_KEY: Final = "sources:"
_YES_OR_NO: Final = frozenset(("enabled", "allow_private", "import.verified", "import.recommended"))
_NUMBERS: Final = frozenset(("gone", "requests_per_day", "import.scale"))
_OF_IMPORT: Final = "Options of reviewsctl import are set by --set import.KEY=VALUE, columns by --set import.map.KEY=VALUE."
_ITEM: Final = re.compile(r"^(( *)- .*\n?(?:\2 +.*\n?)*)", re.MULTILINE)
"""An item of a list, with the lines that are indented deeper than its dash; and its indent."""


def described(kind: str, name: str, settings: Sequence[tuple[str, str]]) -> dict[str, object]:
    """Return a source as the configuration has it; ``import.source`` is a key of a section."""
    source: dict[str, object] = {"name": name, "type": kind}
    for key, text in settings:
        *sections, last = key.split(".")
        place = source
        for section in sections:
            inner = place.setdefault(section, {})
            if not isinstance(inner, dict):
                break
            place = inner
        place[last] = _value(key, text)
    return source


def _value(key: str, text: str) -> object:
    """Return the value of a setting: the words of ``import --set``, or a text, which may have digits alone."""
    if key in _YES_OR_NO:
        return BOOLEANS.get(text.casefold(), text)
    value = scalar(text)
    return value if value is None or key in _NUMBERS else text


def with_source(text: str, source: Mapping[str, object]) -> str:
    """Return the text of a configuration with one more source.

    Raises:
        CommandError: Its list of sources is written on one line, which only a person can add to.
    """
    item = yaml.safe_dump([dict(source)], sort_keys=False, allow_unicode=True)
    lines = text.splitlines(keepends=True)
    at = next((index for index, line in enumerate(lines) if line.startswith(_KEY)), None)
    if at is None:
        return f"{text.rstrip()}\n\n{_KEY}\n{_indented(item, '  ')}"
    value = lines[at].removeprefix(_KEY).partition("#")[0].strip()
    if value.replace(" ", "") == "[]":
        lines[at] = f"{_KEY}\n{_indented(item, '  ')}"
        return "".join(lines)
    next_lines = (line for line in lines[at + 1 :] if line.strip() and line.lstrip()[0] != "#")
    first = next(next_lines, "")
    if value or not first.lstrip().startswith("- "):
        detail, remedy = "the section sources is not a list of lines", f"Add this to it:\n{item}"
        raise CommandError("not added", detail, remedy)
    indent = first[: len(first) - len(first.lstrip())]
    lines.insert(at + 1, _indented(item, indent))
    return "".join(lines)


def without_source(text: str, name: str) -> str:
    """Return the text of a configuration that has a source without it; comments beside it stay.

    Raises:
        CommandError: Its list of sources is written on one line.
    """
    document = yaml.safe_load(text) or {}  # the sources may be in the environment
    left = [source for source in document.get("sources") or [] if source["name"] != name]
    for item, _ in _ITEM.findall(text):
        rest = text.replace(item, "", 1)
        if not left:
            rest = f"\n{rest}".replace(f"\n{_KEY}", f"\n{_KEY} []", 1)[1:]
        with contextlib.suppress(yaml.YAMLError):
            if yaml.safe_load(rest) == {**document, "sources": left}:
                return rest
    detail = "the section sources is not a list of lines"
    raise CommandError("not removed", detail, f"Take {name} out of it.")


def _indented(item: str, indent: str) -> str:
    return "".join(f"{indent}{line}" for line in item.splitlines(keepends=True))


def add(
    config: Path | None,
    environ: Mapping[str, str],
    kind: str,
    name: str,
    settings: Sequence[tuple[str, str]],
) -> Path:
    """Add a source to the configuration, and return its path.

    Raises:
        CommandError: Only a person can, or the source cannot be used; the configuration stays as it was.
        ConfigError: The configuration cannot be used as it is.
        OSError: It cannot be read or written.
    """
    return _rewritten(
        config, environ, lambda text: with_source(text, described(kind, name, settings))
    )


def remove(config: Path | None, environ: Mapping[str, str], name: str) -> Path:
    """Remove a source that the configuration has, and return its path; raises as ``add``."""
    return _rewritten(config, environ, lambda text: without_source(text, name))


def _rewritten(
    config: Path | None, environ: Mapping[str, str], rewrite: Callable[[str], str]
) -> Path:
    file = real(configuration.find(config, environ))
    configuration.load(file, environ)
    text = rewrite(file.read_text())
    try:
        configuration.load(file, environ, content=text.encode())
    except ConfigError as error:
        # by the names of the settings, as the line of the new source is in no file
        first, *rest = dict.fromkeys(
            f"{problem.path.partition('].')[2] or problem.path}: {problem.reason}"
            for problem in error.problems
        )
        remedy = "\n".join([*rest, _OF_IMPORT])
        raise CommandError("nothing was written", first, remedy) from error
    with opened(file.parent) as folder, folder.draft(file.name) as draft:
        draft.file.write(text.encode())
        facts = file.stat()
        draft.give(facts.st_uid, facts.st_gid)
        draft.put(facts.st_mode & 0o777)
    return file
