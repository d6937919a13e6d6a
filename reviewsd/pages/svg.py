"""Finds the parts that make an SVG unusable as a logo: scripts, references to elsewhere, and a document type (pages.md 4.1).

Browsers run no script of an SVG in ``<img>``, and our policy for it forbids scripts; these rules hold also for
copies of the file that are opened elsewhere. A document type can declare entities that grow without end.
"""

from typing import Final
from xml.parsers import expat

_NAMESPACE: Final = "http://www.w3.org/2000/svg"
_ROOT: Final = f"{_NAMESPACE} svg"
_SCRIPTS: Final = frozenset({"script", "handler", "listener"})
_FOREIGN: Final = frozenset(
    {"foreignobject", "iframe", "object", "embed", "audio", "video", "canvas", "link", "base"}
)
_DATA: Final = tuple(f"data:image/{kind};base64," for kind in ("png", "jpeg", "webp", "gif"))


class _RefusedError(Exception):
    """A rule is broken; the message says which."""


def refusal(content: bytes) -> str | None:
    """Return why an SVG may not be published, with its line; None if it may."""
    parser = expat.ParserCreate(namespace_separator=" ")
    rules = _Rules()
    parser.StartDoctypeDeclHandler = rules.doctype
    parser.EntityDeclHandler = rules.doctype
    parser.ProcessingInstructionHandler = rules.instruction
    parser.StartElementHandler = rules.start
    parser.EndElementHandler = rules.end
    parser.CharacterDataHandler = rules.text
    parser.buffer_text = True
    try:
        parser.Parse(content, True)  # noqa: FBT003  expat has no names for arguments
    except _RefusedError as error:
        return f"{error} (line {parser.CurrentLineNumber})"
    except expat.ExpatError as error:
        return f"no XML: {expat.ErrorString(error.code)} (line {error.lineno})"
    except (LookupError, ValueError) as error:  # an encoding that Python does not know
        return f"no XML: {error}"
    return None


class _Rules:
    """The handlers of a parser; each raises ``_RefusedError`` where a rule is broken."""

    def __init__(self) -> None:
        self._open: list[str] = []

    def doctype(self, *_: object) -> None:
        """Refuse a document type and its entities."""
        raise _RefusedError("has a document type (<!DOCTYPE>)")

    def instruction(self, *_: object) -> None:
        """Refuse style sheets of elsewhere."""
        raise _RefusedError("has a processing instruction (<?...?>)")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Examine an element."""
        if not self._open and name != _ROOT:
            raise _RefusedError("is no SVG picture")
        tag = name.rpartition(" ")[2].casefold()
        if tag in _SCRIPTS:
            raise _RefusedError(f"has a script (<{tag}>)")
        if tag in _FOREIGN:
            raise _RefusedError(f"has a foreign part (<{tag}>)")
        self._open.append(tag)
        for attribute, value in attributes.items():
            _examine(attribute.rpartition(" ")[2].casefold(), value)

    def end(self, _: str) -> None:
        """Close an element."""
        self._open.pop()

    def text(self, text: str) -> None:
        """Examine the text of a style sheet."""
        if self._open[-1:] == ["style"]:
            _examine_style(text)


def _examine(name: str, value: str) -> None:
    if name.startswith("on"):
        raise _RefusedError(f"has a script ({name})")
    if name in {"href", "src", "base"}:
        address = value.strip()
        if not address.startswith(("#", *_DATA)):
            raise _RefusedError(f"refers to another file ({name})")
    else:
        _examine_style(value)


def _examine_style(text: str) -> None:
    r"""Refuse references to other files; ``\`` would hide them, and comments may divide their words."""
    style = text.casefold()
    if "\\" in style or "/*" in style:
        raise _RefusedError("has a style with escapes or comments")
    if "@import" in style or "image-set" in style or "javascript:" in style:
        raise _RefusedError("refers to another file (style)")
    for part in style.split("url(")[1:]:
        if not part.lstrip(" \t\r\n\"'").startswith("#"):
            raise _RefusedError("refers to another file (url)")
