"""Secrets of sources: files of their own, or credentials of systemd."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from reviewsctl.sources.faults import SourceStoppedError
from reviewsd.config.source_schema import ReviewSource
from reviewsd.runtime.systemd import credential

_MAX_BYTES: Final = 65_536


def read_secret(source: ReviewSource, key: str, environ: Mapping[str, str]) -> str | None:
    """Return the secret in the file of a key such as ``key_file``; None where there is none.

    Raises:
        SourceStoppedError: The file cannot be read, or others may read it.
    """
    path = getattr(source, key)
    if path is None:
        name = f"{source.name}.{key.removesuffix('_file')}"
        # LoadCredential= of a folder makes sources_NAME of sources/NAME
        path = credential(environ, f"sources_{name}", f"sources/{name}")
    if path is None:
        return None
    try:
        with Path(path).open("rb") as file:
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
