"""Secrets of sources: files of their own, or credentials of systemd."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from reviewsctl.sources.faults import SourceStoppedError
from reviewsd.config.source_schema import ReviewSource

_MAX_BYTES: Final = 65_536


def read_secret(source: ReviewSource, key: str, environ: Mapping[str, str]) -> str | None:
    """Return the secret in the file of a key such as ``key_file``; None where there is none.

    Raises:
        SourceStoppedError: The file cannot be read, or others may read it.
    """
    named = getattr(source, key)
    path = Path(named) if named else _credential(source.name, key, environ)
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            content = file.read(_MAX_BYTES)
    except OSError as fault:
        raise SourceStoppedError(f"{path}: {fault.strerror}", f"Write the {key} there.") from fault
    if mode & 0o007:
        raise SourceStoppedError(f"{path} may be read by others", f"chmod o= {path}")
    try:
        text = content.decode().strip()
    except UnicodeDecodeError as fault:
        raise SourceStoppedError(f"{path} is no text") from fault
    if not text:
        raise SourceStoppedError(f"{path} is empty", f"Write the {key} there.")
    return text


def needed_secret(source: ReviewSource, key: str, environ: Mapping[str, str]) -> str:
    """Return the secret of a key.

    Raises:
        SourceStoppedError: There is none, or it cannot be read.
    """
    secret = read_secret(source, key, environ)
    if secret is None:
        suffix = key.removesuffix("_file")
        raise SourceStoppedError(
            f"it has no {key}",
            f"Name a file by {key}, or have systemd load the credential sources_{source.name}.{suffix}.",
        )
    return secret


def _credential(name: str, key: str, environ: Mapping[str, str]) -> Path | None:
    folder = environ.get("CREDENTIALS_DIRECTORY")
    if folder is None:
        return None
    file = f"{name}.{key.removesuffix('_file')}"
    # LoadCredential= of a folder makes sources_NAME of sources/NAME
    paths = (Path(folder) / f"sources_{file}", Path(folder) / "sources" / file)
    return next((path for path in paths if path.exists()), None)
