"""Tokens of sources: ``tokens/NAME`` in the state directory, 0600, on the disk before they are used."""

import datetime
from pathlib import Path

import msgspec

from reviewsctl.files.folders import opened
from reviewsctl.sources.faults import LOG_IN, SourceStoppedError


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens of a login."""

    refresh_token: str
    access_token: str
    expires_at: datetime.datetime


class TokenFile:
    """The tokens of one source.

    Args:
        state: The state directory.
        name: Of the source.
    """

    def __init__(self, state: Path, name: str) -> None:
        self._folder = state / "tokens"
        self._name = name

    def load(self) -> Tokens:
        """Return the tokens.

        Raises:
            SourceStoppedError: There is no login, or the file is damaged.
        """
        remedy = LOG_IN.format(name=self._name)
        try:
            content = (self._folder / self._name).read_bytes()
            return msgspec.json.decode(content, type=Tokens)
        except FileNotFoundError as error:
            raise SourceStoppedError("nobody has logged in", remedy) from error
        except OSError as error:
            raise SourceStoppedError(f"{error.filename}: {error.strerror}") from error
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise SourceStoppedError("the file of its tokens is damaged", remedy) from error

    def save(self, tokens: Tokens) -> None:
        """Replace the tokens; they are on the disk when this returns."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with opened(self._folder) as folder:
            folder.write(self._name, msgspec.json.encode(tokens), 0o600)

    def remove(self) -> None:
        """Remove the tokens."""
        (self._folder / self._name).unlink(missing_ok=True)
