"""The small parts of pages: colours, names, numbers, pictures, counts."""

import datetime
import struct
import zlib

import pytest

from reviewsd.domain.reviews import AggregateRating, Business
from reviewsd.http1 import urls
from reviewsd.pages import extras, naming, share_card, theme
from reviewsd.pages.language import language_of
from reviewsd.pages.site import PageSettings, Site, Statistics


@pytest.mark.parametrize(
    "accent", ["#0b6e6e", "#ffcc00", "#ffffff", "#000000", "#ff0000", "#777777"]
)
def test_every_accent_can_be_read_by_day_and_by_night(accent: str) -> None:
    found = theme.colours(accent)
    for words, ground in (("accent", "accent_soft"), ("accent_dark", "accent_soft_dark")):
        assert theme.contrast(found[words], found[ground]) >= theme.LEAST_CONTRAST


def test_contrast_follows_wcag() -> None:
    assert 21 == pytest.approx(theme.contrast("#000000", "#ffffff"))
    assert 4.54 == pytest.approx(theme.contrast("#767676", "#ffffff"), abs=0.01)


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("Jane Doe", "JD"),
        ("jane", "J"),
        ("Ana María de la Cruz", "AC"),
        ("Jane (she) D.", "JD"),
        ("★", "★"),
        ("   ", "★"),
        ("李 小龍", "李小"),
    ],
)
def test_initials(name: str, letters: str) -> None:
    assert letters == naming.initials(name)


@pytest.mark.parametrize(
    ("phone", "link"),
    [
        ("+1-207-555-0142", "tel:+12075550142"),
        ("(030) 12 34", "tel:0301234"),
        ("javascript:alert(123)", None),
        ("0800 REPAIRS", None),
        ("12", None),
        ("1" * 16, None),
    ],
)
def test_telephone_numbers(phone: str, link: str | None) -> None:
    assert link == naming.phone_link(phone)


@pytest.mark.parametrize(
    ("email", "link"),
    [
        ("office@a.example", "mailto:office@a.example"),
        ("a@b?bcc=c@d", None),
        ("a b@c", None),
        ("nobody", None),
        ("@a", None),
    ],
)
def test_mail_addresses(email: str, link: str | None) -> None:
    assert link == naming.mail_link(email)


@pytest.mark.parametrize(
    ("tag", "number", "date", "direction"),
    [
        ("en", "1,234.5", "1 March 2025", "ltr"),
        ("de-AT", "1.234,5", "1. März 2025", "ltr"),
        ("fr", "1\u202f234,5", "1 mars 2025", "ltr"),
        ("he", "1,234.5", "2025-03-01", "rtl"),
        ("az-Arab", "1,234.5", "2025-03-01", "rtl"),
        ("ur-Latn", "1,234.5", "2025-03-01", "ltr"),
        ("-", "1,234.5", "2025-03-01", "ltr"),
    ],
)
def test_languages(tag: str, number: str, date: str, direction: str) -> None:
    language = language_of(tag)
    day = datetime.date(2025, 3, 1)
    assert (number, date, direction) == (
        language.number(1234.5, 1),
        language.date(day),
        language.direction,
    )


@pytest.mark.parametrize(
    ("review_id", "path"),
    [
        ("01ABC", "/r/01ABC"),
        ("a/b?c#d", "/r/a%2Fb%3Fc%23d"),
        ("..", "/r/..%20"),
        (".", "/r/.%20"),
        ("...", "/r/..."),
        ("%2e", "/r/%252e"),
    ],
)
def test_permalinks(review_id: str, path: str) -> None:
    assert path == urls.permalink(review_id)


def pixels(picture: bytes) -> tuple[int, int, bytes]:
    """Width, height, and the lines of a picture of one IDAT."""
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    at, chunks = 8, {}
    while at < len(picture):
        size, name = struct.unpack_from(">I4s", picture, at)
        data = picture[at + 8 : at + 8 + size]
        (check,) = struct.unpack_from(">I", picture, at + 8 + size)
        assert check == zlib.crc32(name + data)
        chunks[name] = data
        at += 12 + size
    width, height = struct.unpack_from(">II", chunks[b"IHDR"])
    return width, height, zlib.decompress(chunks[b"IDAT"])


def test_share_card_has_as_many_lit_stars_as_the_rating() -> None:
    cards = {
        stars: pixels(share_card.render("#ffffff", "#000000", "#888888", stars))
        for stars in (0, 2.5, 5)
    }
    assert {(1200, 630)} == {card[:2] for card in cards.values()}
    lit = {stars: sum(0 < level <= 16 for level in rows) for stars, (_, _, rows) in cards.items()}
    assert 0 == lit[0] < lit[2.5] < lit[5]
    assert lit[2.5] == pytest.approx(lit[5] / 2, rel=0.02)


def test_shipped_icon_is_one_picture_in_the_default_accent() -> None:
    icon = extras.ICON_FILE.read_bytes()
    assert (0, 1, 1) == struct.unpack_from("<HHH", icon)
    size, offset = struct.unpack_from("<II", icon, 14)
    picture = icon[offset : offset + size]
    assert (32, 32) == pixels(picture)[:2]
    assert bytes.fromhex(theme.colours(PageSettings().accent)["accent"][1:]) in picture


def site(*days: str) -> Site:
    return Site(
        base_url="https://a.example",
        settings=PageSettings(),
        business=Business(name="Acme"),
        rating=AggregateRating(),
        updated_at=None,
        count=len(days),
        days=sorted((datetime.date.fromisoformat(day).toordinal() for day in days), reverse=True),
        newest=(),
        statistics=Statistics(),
    )


def test_months_end_with_the_newest_review() -> None:
    found = site("2025-03-01", "2025-03-31", "2025-01-31", "2023-12-31")
    assert ((2025, 1, 1), (2025, 2, 0), (2025, 3, 2)) == found.months(3)
    assert (2023, 12, 1) == found.months(24)[0]
    assert ((2025, 3), (2023, 1)) == found.years()
    assert () == site().months(24)
    assert () == site().years()


def test_months_of_the_last_possible_year_are_counted() -> None:
    assert ((9999, 12, 1),) == site("9999-12-31").months(24)
    assert ((9999, 1), (1, 1)) == site("9999-12-31", "0001-01-01").years()
