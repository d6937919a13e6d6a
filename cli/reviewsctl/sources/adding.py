"""Adds and removes sources in the configuration file, and leaves everything else in it as it is written."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import yaml
from msgspec.structs import fields

from reviewsctl.files.folders import opened, real
from reviewsctl.importing.settings import BOOLEANS
from reviewsctl.terminal.errors import CommandError
from reviewsd.api.files import Diagnostic
from reviewsd.config import load as configuration
from reviewsd.config.errors import ConfigError
from reviewsd.config.rules import UNKNOWN_KEY
from reviewsd.config.source_rules import NO_SUCH_KEY
from reviewsd.config.source_schema import SourceImport
from reviewsd.config.yaml_source import scalar

_KEY: Final = "sources:"
_YES_OR_NO: Final = frozenset(("enabled", "allow_private", "import.verified", "import.recommended"))
_OF_IMPORT: Final = frozenset(field.encode_name for field in fields(SourceImport))
_SECTIONS: Final = frozenset(("map", "public"))  # of these, as the others are values
_NUMBERS: Final = frozenset(("gone", "requests_per_day", "import.scale"))


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
    root = yaml.compose(text, Loader=yaml.SafeLoader)  # libyaml's marks count bytes
    members = root.value if isinstance(root, yaml.MappingNode) else []
    node = next((node for key, node in members if key.value == _KEY.rstrip(":")), None)
    if not isinstance(node, yaml.SequenceNode) or node.flow_style:
        detail = "the section sources is not a list of lines"
        raise CommandError("not removed", detail, f"Take {name} out of it.")
    names = [yaml.safe_load(yaml.serialize(item)).get("name") for item in node.value]
    item = node.value[names.index(name)]
    lines = text.splitlines(keepends=True)
    first, last = item.start_mark.line, item.end_mark
    # a block ends where the next token begins, {...} behind its brace
    end = last.line + bool(item.flow_style or (last.index == len(text) and last.column))
    while not lines[end - 1].split("#", 1)[0].strip():
        end -= 1  # what stands before the next source is not of this one
    lines[first:end] = []
    if len(names) == 1:
        at = next(index for index, line in enumerate(lines) if line.startswith(_KEY))
        lines[at] = lines[at].replace(_KEY, f"{_KEY} []", 1)
    return "".join(lines)


def _indented(item: str, indent: str) -> str:
    return "".join(f"{indent}{line}" for line in item.splitlines(keepends=True))


def _fault(problem: Diagnostic) -> str:
    """Return a fault of the new source by the name of its setting, as its line is in no file."""
    key = problem.path.partition("].")[2]
    reason = problem.reason.partition("; for example: ")[0]
    if key in _OF_IMPORT and (UNKNOWN_KEY in reason or reason.endswith(NO_SUCH_KEY)):
        inner = ".KEY" if key in _SECTIONS else ""
        return f"{key}: a setting of the import: --set import.{key}{inner}=VALUE"
    if reason.startswith("expected object"):
        return f"{key}: {reason}; its keys are set one by one: --set {key}.KEY=VALUE"
    return f"{key or problem.path}: {problem.reason}"


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
    configuration.examine(file, environ)
    text = rewrite(file.read_text())
    try:
        configuration.examine(file, environ, content=text.encode())
    except ConfigError as error:
        first, *rest = dict.fromkeys(map(_fault, error.problems))
        raise CommandError("nothing was written", first, "\n".join(rest)) from error
    with opened(file.parent) as folder, folder.draft(file.name) as draft:
        draft.file.write(text.encode())
        facts = file.stat()
        draft.give(facts.st_uid, facts.st_gid)
        draft.put(facts.st_mode & 0o777)
    return file
