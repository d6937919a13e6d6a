"""The export that ``reviewsctl import -`` reads from standard input."""

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.options import ImportOptions

STANDARD_INPUT: Final = Path("-")

_NAME: Final = "standard input"  # in messages


@contextlib.contextmanager
def copied(options: ImportOptions) -> Iterator[ImportOptions]:
    """Replace ``-`` among the exports by a copy of standard input, for the block.

    An export is read several times, which a pipe cannot be.

    Raises:
        ImportRefusedError: Standard input is a terminal.
    """
    if STANDARD_INPUT not in options.exports:
        yield options
        return
    if sys.stdin.isatty():
        raise ImportRefusedError(
            "standard input is a terminal", "Pipe an export into it: reviewsctl import - <FILE"
        )
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, _NAME)
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        paths = [copy if path == STANDARD_INPUT else path for path in options.exports]
        yield replace(options, exports=paths)
