"""Shows the configuration in effect and its JSON Schema, for ``reviewsctl config`` (interfaces.md 1.1).

Passwords are masked here (O11).
"""

import re
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from reviewsd.api.files import EffectiveConfig, Setting
from reviewsd.config.load import Loaded, variable_of
from reviewsd.config.schema import Config, keys
from reviewsd.config.source_schema import NonEmptyText

_PASSWORD: Final = re.compile(r"(?<=://)([^:/@?]*):[^/@]*@")
_REQUIRED: Final = frozenset(f.name for f in msgspec.structs.fields(Config) if f.required)
_PARAMETER: Final = re.compile(r"([?&](?:password|sslpassword)=)[^&]*", re.IGNORECASE)
_QUERY: Final = re.compile(r"\?[\s\S]*")


def shown(loaded: Loaded) -> EffectiveConfig:
    """Return the configuration in effect."""
    return EffectiveConfig(file=str(loaded.file.absolute()), settings=tuple(_settings(loaded)))


def schema() -> dict[str, object]:
    """Return the JSON Schema of the configuration file."""
    members: list[tuple[str, object] | tuple[str, object, object]] = []
    for field in msgspec.structs.fields(Config):
        is_path = Path in (field.type, *typing.get_args(field.type))
        kind = NonEmptyText if is_path else field.type  # JSON knows no paths
        default = str(field.default) if isinstance(field.default, Path) else field.default
        members.append((field.name, kind) if field.required else (field.name, kind, default))
    document = msgspec.defstruct("Config", members, kw_only=True, forbid_unknown_fields=True)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "reviewsd.yaml",
        **msgspec.json.schema(document),
    }


def _settings(loaded: Loaded) -> Iterator[Setting]:
    values = _flat(loaded.config)
    defaults = _flat(Config(base_url="", data_dir=Path()))
    for key, value in values.items():
        path = f"$.{key}"
        variable = variable_of(path, loaded.variables)
        setting = Setting(
            key=key,
            value=_redacted(value),
            default=msgspec.UNSET if key in _REQUIRED else defaults[key],
            origin="default",
        )
        if variable is not None and (path in loaded.variables or value != defaults[key]):
            yield msgspec.structs.replace(setting, origin="environment", variable=variable)
        elif path in loaded.marks:
            line, column = loaded.marks[path]
            yield msgspec.structs.replace(setting, origin="file", line=line, column=column)
        else:
            yield setting


def _flat(config: Config) -> dict[str, object]:
    """Return the values by dotted key, as JSON has them: tuples are lists."""
    tree = msgspec.json.decode(msgspec.json.encode(config, enc_hook=str))
    values: dict[str, object] = {}
    for key in keys(Config):
        value = tree
        for name in key.split("."):
            value = value[name]
        if not isinstance(value, dict):
            values[key] = value
    return values


def _redacted(value: object) -> object:
    """Return a value without the passwords of its addresses, and without the queries of sources."""
    if isinstance(value, list):
        return [_redacted(item) for item in value]
    if isinstance(value, dict):
        return {
            name: _QUERY.sub("?***", item)
            if name == "url" and isinstance(item, str)
            else _redacted(item)
            for name, item in value.items()
        }
    if not isinstance(value, str):
        return value
    return _PARAMETER.sub(r"\1***", _PASSWORD.sub(r"\1:***@", value))
