"""Makes the reader of each type of source, with its secrets: files of their own, or credentials of systemd."""

import datetime
import os
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from reviewsctl.sources.faults import SourceStoppedError
from reviewsctl.sources.google import GoogleReader
from reviewsctl.sources.local_files import FileReader
from reviewsctl.sources.oauth import GoogleTokens, parsed_client
from reviewsctl.sources.paging import SourceReader
from reviewsctl.sources.trustpilot import TrustpilotReader
from reviewsctl.sources.web_address import AddressReader, parsed_header
from reviewsctl.sources.wire import Wire
from reviewsd.config.source_schema import ReviewSource
from reviewsd.runtime.systemd import credential

_MAX_BYTES: Final = 65_536  # of a secret


def reader(
    source: ReviewSource,
    wire: Wire,
    state: Path,
    environ: Mapping[str, str],
    now: Callable[[], datetime.datetime],
) -> SourceReader:
    """Return the reader of a source; the configuration has the keys of its type.

    Raises:
        SourceStoppedError: A secret is missing or unusable.
    """
    match source.type:
        case "file":
            return FileReader(source.path or "", now)
        case "url":
            header = _secret(source, "header_file", environ)
            return AddressReader(
                wire=wire,
                url=source.url or "",
                header=None if header is None else parsed_header(header),
                allow_private=source.allow_private,
            )
        case "trustpilot":
            return TrustpilotReader(
                wire,
                source.business_unit or "",
                _needed_secret(source, "key_file", environ),
                _needed_secret(source, "secret_file", environ),
            )
        case "google-business":
            tokens = google_tokens(source, wire, state, environ, now)
            return GoogleReader(tokens, f"{source.account}/{source.location}")


def google_tokens(
    source: ReviewSource,
    wire: Wire,
    state: Path,
    environ: Mapping[str, str],
    now: Callable[[], datetime.datetime],
) -> GoogleTokens:
    """Return the tokens of a source at Google.

    Raises:
        SourceStoppedError: There is no client.
    """
    client = parsed_client(_needed_secret(source, "client_file", environ))
    return GoogleTokens(wire, client, state / "tokens", source.name, now)


def _secret(source: ReviewSource, key: str, environ: Mapping[str, str]) -> str | None:
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
        raise SourceStoppedError(
            f"{path} may be read by others", f"chmod o= {shlex.quote(str(path))}"
        )
    try:
        text = content.decode().strip()
    except UnicodeDecodeError as fault:
        raise SourceStoppedError(f"{path} is no text") from fault
    if not text:
        raise SourceStoppedError(f"{path} is empty", f"Write the {key} there.")
    return text


def _needed_secret(source: ReviewSource, key: str, environ: Mapping[str, str]) -> str:
    secret = _secret(source, key, environ)
    if secret is None:
        suffix = key.removesuffix("_file")
        raise SourceStoppedError(
            f"it has no {key}",
            f"Name a file by {key}, or have systemd load the credential sources_{source.name}.{suffix}.",
        )
    return secret
