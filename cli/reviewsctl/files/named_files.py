"""The files that a configuration names, and their places on a server (interfaces.md 1.6)."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from reviewsd.api.files import EffectiveConfig
from reviewsd.api.places import SYSTEM

NOTICES: Final = SYSTEM.parent / "notify"
"""The folder of the addresses of notices, which systemd hands over."""
CREDENTIALS: Final = SYSTEM.parent / "credentials"
"""The folder of the secrets of sources, which systemd hands over."""
KEYS: Final = tuple(
    Path("/etc/credstore") / name
    for name in ("reviewsd.hub-secret-key", "reviewsd.mcp-session-key")
)
"""The folders in which systemd looks for what LoadCredential= names without a path."""

_PUBLIC: Final = {
    "hub.callbacks.ca_file": SYSTEM.parent / "ca.pem",
    "pages.templates_dir": SYSTEM.parent / "templates",
}
"""The places of copies that are for all to read; names of the owner could be those of secrets."""

_SECRETS: Final = (
    ("notify", NOTICES, ("url_file",)),
    ("sources", CREDENTIALS, ("header_file", "client_file", "key_file", "secret_file")),
)
"""The sections with entries that name secrets, the folder of their copies, and the keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFile:
    """A file or folder that a configuration names."""

    key: str
    """The name for people, such as ``notify.owner.url_file``."""
    place: str
    """The JSON path in the configuration."""
    path: Path
    copy: Path
    """The place for the service, of a copy or of the file itself."""
    is_secret: bool = False
    """Only root may read the copy; systemd hands it over, and the key is no longer needed."""

    @property
    def is_copied(self) -> bool:
        """Whether the service has a copy."""
        return self.copy != self.path

    @property
    def is_export(self) -> bool:
        """Whether it is the export of a source, or the pattern of several."""
        return self.key.endswith(".path")


def named_files(settings: EffectiveConfig) -> Iterator[NamedFile]:
    """Yield the files that a configuration names beside its data, whether they exist or not."""
    for key, copy in _PUBLIC.items():
        if (value := settings.value(key)) is not None:
            yield NamedFile(key=key, place=f"$.{key}", path=Path(str(value)), copy=copy)
    key = "mcp.session_key_file"
    if (value := settings.value(key)) is not None:
        path = Path(str(value))
        yield NamedFile(key=key, place=f"$.{key}", path=path, copy=KEYS[1], is_secret=True)
    for section, folder, keys in _SECRETS:
        for index, entry in enumerate(entries(settings, section)):
            for key in filter(entry.get, keys):
                yield NamedFile(
                    key=f"{section}.{entry['name']}.{key}",
                    place=f"$.{section}[{index}].{key}",
                    path=Path(entry[key]),
                    copy=folder / f"{entry['name']}.{key.removesuffix('_file')}",
                    is_secret=True,
                )


def exports(settings: EffectiveConfig) -> Iterator[NamedFile]:
    """Yield the exports of sources, which stay where their owner writes them."""
    for index, source in enumerate(entries(settings, "sources")):
        if source.get("path") is not None:
            path = Path(os.path.normpath(source["path"]))
            key, place = f"sources.{source['name']}.path", f"$.sources[{index}].path"
            yield NamedFile(key=key, place=place, path=path, copy=path)


def needed_files(settings: EffectiveConfig) -> Iterator[NamedFile]:
    """Yield the files that a configuration names, and the addresses that systemd hands over."""
    yield from named_files(settings)
    for target in entries(settings, "notify"):
        if target.get("url_file") is None:
            copy = NOTICES / f"{target['name']}.url"
            key = f"the address of notify.{target['name']}"
            yield NamedFile(key=key, place="", path=copy, copy=copy, is_secret=True)


def entries(settings: EffectiveConfig, section: str) -> list[dict[str, Any]]:
    """Return the entries of a section that is a list."""
    value = settings.value(section)
    return value if isinstance(value, list) else []
