"""Manual pages in man(7): a page is built of sections, paragraphs and terms."""

import re
from collections.abc import Iterable


class Page:
    """One page, being written.

    Args:
        title: Such as ``reviewsctl``.
        section: Of the manual.
        version: Of the program.
        summary: The line that apropos(1) finds.
    """

    def __init__(self, title: str, section: int, version: str, summary: str) -> None:
        self._lines = [
            '.\\" Made by python -m reviewsctl.manual.shares',
            f'.TH "{title.upper()}" "{section}" "" "reviewsd {version}" "Reviews Service"',
        ]
        self.heading("Name")
        self._lines.append(f"{_escaped(title)} \\- {_escaped(summary)}")

    def heading(self, text: str) -> None:
        """Begins a section."""
        self._lines.append(f'.SH "{_escaped(text.upper())}"')

    def subheading(self, text: str) -> None:
        """Begins a part of a section."""
        self._lines.append(f'.SS "{_escaped(text)}"')

    def paragraph(self, text: str) -> None:
        """Prose, filled by the reader."""
        self._lines += [".PP", _line(text)]

    def term(self, term: str, text: str) -> None:
        """A word, in bold, and what it means."""
        self._lines += [".TP", f'.B "{_escaped(term)}"', _line(text or " ")]

    def verbatim(self, lines: Iterable[str]) -> None:
        """Lines as they are."""
        self._lines += [".PP", ".RS 4", ".nf", *map(_line, lines), ".fi", ".RE"]

    def text(self, text: str) -> None:
        """Help as programs print it: paragraphs, and verbatim blocks, which begin with a backspace."""
        for block in re.split(r"\n\s*\n", text.strip("\n")):
            lines = block.splitlines()
            if lines and lines[0].strip() == "\b":
                self.verbatim(line.removeprefix("    ") for line in lines[1:])
            else:
                self.paragraph(" ".join(line.strip() for line in lines))

    def __str__(self) -> str:
        return "\n".join(self._lines) + "\n"


def _escaped(text: str) -> str:
    # a hyphen that is to be copied is a minus; quotes end an argument
    return text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq").replace("'", "\\(aq")


def _line(text: str) -> str:
    """A line of text, which must not begin like a request."""
    escaped = _escaped(text)
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
