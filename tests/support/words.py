"""Merge the English words into the catalogs: ``python -m tests.support.words``.

Messages that are new are left empty, and those whose English words have changed are marked as fuzzy. The tests of
``tests/unit/pages/test_words.py`` fail until both are translated.
"""

from io import BytesIO

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from reviewsd.pages.words import CATALOGS, english


def main() -> None:
    """Merge into all catalogs."""
    for path in CATALOGS.glob("*.po"):
        path.write_bytes(merged(path.read_bytes()))


def merged(content: bytes) -> bytes:
    """Return a catalog with the messages of the English words."""
    head, _, _ = content.partition(b"\n\n")
    known = {message.context: message for message in read_po(BytesIO(content)) if message.context}
    catalog = Catalog()
    words = english()
    for key, text in words.items():
        if key.endswith("_one"):
            continue
        one = words.get(f"{key}_one")
        id_ = text if one is None else (one, text)
        message = known.get(key)
        string = ("" if one is None else ("", "")) if message is None else message.string
        flags = {"fuzzy"} if message is not None and message.id != id_ else set()
        catalog.add(id_, string, context=key, flags=flags)
    file = BytesIO()
    write_po(file, catalog, width=0, omit_header=True)
    return head + b"\n\n" + file.getvalue()


if __name__ == "__main__":
    main()
