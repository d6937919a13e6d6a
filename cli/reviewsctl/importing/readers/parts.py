"""Finds the files to import in a file, folder, zip or gzip (interfaces.md 2)."""

import gzip
import io
import json
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, BinaryIO, Final, NamedTuple

from reviewsctl.importing.bounds import MAX_RATIO, MAX_UNPACKED
from reviewsctl.importing.errors import ImportRefusedError, NoReviewsError
from reviewsctl.importing.values import elements, members, word
from reviewsd.api.texts import printable

BROKEN: Final = (zipfile.BadZipFile, zlib.error, EOFError)
"""Exceptions for a damaged archive, when a member is read."""

DAMAGED: Final = (*BROKEN, NotImplementedError, UnicodeDecodeError)
"""Exceptions of ``zipfile`` for a damaged archive, when it is opened."""

_ENCRYPTED: Final = 1  # bit of a member's flags
_METHODS: Final = frozenset((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
_UNPACK: Final = "Unpack it, and import the folder."


def room(size: int) -> int:
    """Return the bytes that an archive of this size may unpack to."""
    return max(MAX_UNPACKED, MAX_RATIO * size)


def checked(file: Path | IO[bytes], name: str, most: int) -> list[zipfile.ZipInfo]:
    """Return the members of an archive that may be read.

    Args:
        file: The archive.
        name: As messages name it.
        most: Bytes that it may unpack to.

    Raises:
        ImportRefusedError: It is encrypted, or unpacks to too much.
        Exception: One of ``DAMAGED``.
    """
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
    if any(member.flag_bits & _ENCRYPTED for member in members):
        raise ImportRefusedError(f"{name} is encrypted", _UNPACK)
    if any(member.compress_type not in _METHODS for member in members):
        raise ImportRefusedError(f"{name} uses a compression method that cannot be read", _UNPACK)
    unpacked = sum(member.file_size for member in members)
    if unpacked > most:
        raise ImportRefusedError(
            f"{name} unpacks to {unpacked:,} bytes, which is far more than it has: that is no export",
            "If it is one all the same: unpack it, and import the folder.",
        )
    return members


_ZIP = b"PK\x03\x04"
_GZIP = b"\x1f\x8b"
_TAR_BYTES = 512  # of the first header
_SHEET_BOOK = "xl/workbook.xml"
_ODS_TYPE, _ODS_TYPE_BYTES = "mimetype", 100
_TAKEOUT = re.compile(r"(?:^|/)(location-[^/]+)/reviews(?:[-_][^/]*)?\.json$")
_LISTING = re.compile(r"(?:^|/)(location-[^/]+)/(?:data|additionalData)\.json$")
_MAPS = re.compile(r"(?:^|/)Reviews\.json$")
_READABLE = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".txt", ".xlsx", ".xls", ".ods")
_MAX_FILES = 1000  # outside of Takeout; a folder of more is not an export
_MAX_LISTING = 4 * 1024 * 1024  # bytes of a data.json

Opening = Callable[[], BinaryIO]


class Location(NamedTuple):
    """A location of Google Takeout; empty for files of other exports."""

    id: str = ""
    """The id in the path of its files."""
    title: str = ""
    listing: Mapping[str, object] = {}
    """The location, as its data.json has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One file of an export."""

    name: str
    """The name in messages, printable."""
    size: int
    room: int
    """Bytes that it may unpack to, should it be a spreadsheet, which is an archive."""
    open: Opening
    location: Location = field(default_factory=Location)


def parts_of(path: Path) -> list[Part]:
    """Return the files of an export.

    Raises:
        ImportRefusedError: It has none that may be reviews.
    """
    try:
        if path.is_dir():
            return _chosen(path, list(_in_folder(path)))
        if not path.is_file():
            raise ImportRefusedError(
                f"{path} is no regular file", "Pipe it: reviewsctl import - <FILE"
            )
        with path.open("rb") as file:
            begins = file.read(_TAR_BYTES)
        _refuse_tar(path, begins)
        if begins.startswith(_ZIP):
            return _of_zip(path)
        if begins.startswith(_GZIP):
            return [_unpacked(path)]
        return [_part(path)]
    except (OSError, *DAMAGED) as fault:
        reason = getattr(fault, "strerror", None) or fault
        name = getattr(fault, "filename", None) or path
        raise ImportRefusedError(f"cannot read {name}: {reason}") from fault


def _refuse_tar(path: Path, begins: bytes) -> None:
    if begins.startswith(b"ustar", 257):
        raise ImportRefusedError(f"{path} is a tar archive", "Unpack it, and import the folder.")


def _of_zip(path: Path) -> list[Part]:
    def opening(info: zipfile.ZipInfo) -> Opening:
        def opened() -> BinaryIO:
            with zipfile.ZipFile(path) as archive:  # the member stays open
                try:
                    return archive.open(info)  # type: ignore[return-value]  # typeshed: IO[bytes]
                except (OSError, NotImplementedError, UnicodeDecodeError) as fault:
                    raise zipfile.BadZipFile(f"{info.filename}: {fault}") from fault

        return opened

    parts = [
        Part(
            name=printable(info.filename),
            size=info.file_size,
            room=MAX_RATIO * info.compress_size,
            open=opening(info),
        )
        for info in checked(path, str(path), room(path.stat().st_size))
        if not info.filename.endswith("/")  # is_dir fails on one without a name
    ]
    if any(part.name == _SHEET_BOOK or _is_ods(part) for part in parts):
        return [_part(path)]
    return _chosen(path, parts)


def _is_ods(part: Part) -> bool:
    """Return whether a member of an archive says that this is a spreadsheet of OpenDocument."""
    if part.name != _ODS_TYPE:
        return False
    with part.open() as file:
        return b"opendocument.spreadsheet" in file.read(_ODS_TYPE_BYTES)


def _part(path: Path, name: str = "") -> Part:
    size = path.stat().st_size
    return Part(
        name=printable(name or path.name),
        size=size,
        room=room(size),
        open=lambda: path.open("rb"),
    )


def _unpacked(path: Path) -> Part:
    """Return the file in a gzip file."""
    most = room(path.stat().st_size)
    with gzip.open(path) as file:
        begins = file.read(_TAR_BYTES)
        _refuse_tar(path, begins)
        content = begins + file.read(most + 1 - len(begins))
    if len(content) > most:
        raise ImportRefusedError(
            f"{printable(str(path))} unpacks to more than {most:,} bytes, which is far more than it "
            "has: that is no export",
            "If it is one all the same: unpack it, and import that.",
        )
    if content.startswith((_ZIP, _GZIP)):
        raise ImportRefusedError(f"{path} is an archive in an archive", "Unpack it.")
    return Part(
        name=printable(path.name.removesuffix(".gz")),
        size=len(content),
        room=most,
        open=lambda: io.BytesIO(content),
    )


def _in_folder(folder: Path) -> Iterator[Part]:
    # the operator may name the folder of one location; the name of the folder is its id
    own = folder.resolve().name
    prefix = f"{own}/" if own.startswith("location-") else ""

    def refuse(fault: OSError) -> None:
        raise fault

    paths = (Path(top, name) for top, _, names in os.walk(folder, onerror=refuse) for name in names)
    for path in sorted(paths):
        if path.suffix.lower() in _READABLE and path.is_file():
            yield _part(path, f"{prefix}{path.relative_to(folder).as_posix()}")


def _chosen(path: Path, parts: Sequence[Part]) -> list[Part]:
    takeout = [part for part in parts if _TAKEOUT.search(part.name)]
    if takeout:
        locations = _locations(parts)
        files = sorted(takeout, key=lambda file: file.name)
        places = [_place(_TAKEOUT, file) for file in files]
        return [
            replace(file, location=locations.get(place, Location(place)))
            for file, place in zip(files, places, strict=True)
        ]
    readable = [part for part in parts if Path(part.name).suffix.lower() in _READABLE]
    exports = [part for part in readable if not _LISTING.search(part.name)]
    if any(_MAPS.search(part.name) for part in exports):
        exports = [part for part in exports if _MAPS.search(part.name)]
    if not exports:
        archives = sorted(path.glob("*.zip")) if path.is_dir() else []
        if archives:
            raise NoReviewsError(
                f"{path} holds no reviews outside of archives", f"Name the archive: {archives[0]}"
            )
        raise NoReviewsError(
            f"{path} holds no reviews",
            "Save another document as CSV or XLSX, and import that. Of Google Takeout it should have Takeout/Google Business Profile/account-.../"
            "location-.../reviews.json: at takeout.google.com choose Google Business Profile alone. "
            "A business without reviews has no such file.",
        )
    if len(exports) > _MAX_FILES:
        raise ImportRefusedError(
            f"{path} holds {len(exports):,} files that could be exports",
            "Name the file, or a folder with nothing but the files of one export.",
        )
    return exports


def _place(pattern: re.Pattern[str], part: Part) -> str:
    match = pattern.search(part.name)
    return "" if match is None else match[1].removeprefix("location-")


def _locations(parts: Sequence[Part]) -> dict[str, Location]:
    """Return the locations that are listed, by their ids."""
    locations: dict[str, Location] = {}
    for part in parts:
        if place := _place(_LISTING, part):
            before, content = locations.get(place, Location(place)), _content(part)
            title = before.title or _title(content)
            locations[place] = Location(place, title, {**content, **before.listing})
    return locations


def _content(part: Part) -> Mapping[str, object]:
    """Return a data.json; empty if it cannot be read, since --set name can name the business."""
    try:
        with part.open() as file:
            text = file.read(_MAX_LISTING)
        return members(json.loads(text.decode("utf-8-sig")))
    except (ValueError, RecursionError, *BROKEN):
        return {}


def _title(listing: Mapping[str, object]) -> str:
    """Return ``title`` of data.json, or the attribute LISTING_NAME of additionalData.json."""
    for attribute in map(members, elements(listing.get("attributes"))):
        if members(attribute.get("id")).get("attributeType") == "LISTING_NAME":
            for value in map(members, elements(attribute.get("values"))):
                name = members(members(value.get("datum")).get("listingName")).get("text")
                if title := word(name):
                    return title
    return word(listing.get("title")) or ""
