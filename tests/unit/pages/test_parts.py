"""The small parts of pages: colours, names, numbers, pictures, counts."""

import datetime
from collections import Counter
from io import BytesIO
from typing import Any

import pytest
from msgspec.structs import replace
from PIL import Image, ImageColor

from reviewsd.config.schema import Pages
from reviewsd.http1 import urls
from reviewsd.pages import extras, icons, naming, share_card, theme
from reviewsd.pages.pictures import Picture
from reviewsd.pages.share_card import ShareCard
from reviewsd.pages.site import Statistics


@pytest.mark.parametrize(
    "accent", ["#0b6e6e", "#ffcc00", "#ffffff", "#000000", "#ff0000", "#777777"]
)
def test_every_accent_can_be_read_by_day_and_by_night(accent: str) -> None:
    result = theme.colours(accent)
    for words, ground in (("accent", "accent_soft"), ("accent_dark", "accent_soft_dark")):
        assert theme.contrast(result[words], result[ground]) >= theme.LEAST_CONTRAST


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
        ("Elektro Brandt, Lübeck", "EB"),
        ("Dr. med. Anna Vogt, Bad Tölz", "DV"),
        ("Brandt, Jörg", "BJ"),
        ("★", "★"),
        ("   ", "★"),
        ("李 小龍", "李小"),
        ("Johnny Mannion Jr", "JM"),
        ("johnny mannion jr.", "JM"),
        ("Mary Ann Smith Sr.", "MS"),
        ("Thurston Howell III", "TH"),
        ("Sr. Pereira", "SP"),
        ("Jr", "J"),
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


CARD = ShareCard(
    name="Acme Plumbing",
    host="reviews.example",
    average="2.5",
    rating=2.5,
    count="12 reviews",
    initials="AP",
    accent="#0b6e6e",
    logo=None,
)


def card(**members: object) -> tuple[Image.Image, bytes]:
    """Draw a share card, with some members changed."""
    picture = share_card.render(replace(CARD, **members))
    return Image.open(BytesIO(picture)), picture


@pytest.mark.parametrize(("rating", "lit"), [(0, 0), (1, 1), (2.5, 2.5), (4.37, 4.37), (5, 5)])
def test_share_card_has_as_many_lit_stars_as_the_rating(rating: float, lit: float) -> None:
    stars, _ = card(rating=rating)
    full, _ = card(rating=5)
    box = (400, 300, 1200, 420)
    accent = (0x0B, 0x6E, 0x6E)
    counts = [
        sum(count for count, color in result.crop(box).getcolors(1 << 20) or [] if color == accent)
        for result in (stars, full)
    ]
    assert counts[0] / counts[1] == pytest.approx(lit / 5, abs=0.04)


def test_share_card_has_the_size_of_social_networks_and_the_same_bytes_each_time() -> None:
    image, picture = card()
    assert ((1200, 630), "PNG") == (image.size, image.format)
    assert picture == card()[1]
    assert len(picture) < 100_000


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        ("Acme  &\nSons", "Acme & Sons"),
        ("Żółta Łódź", "Żółta Łódź"),
        ("Z\u0323o\u0308e", None),
        ("Zoe\u0308", "Zoë"),
        ("Кровля и Μάστορας", "Кровля и Μάστορας"),
        ("Joe's \N{SLICE OF PIZZA} Place", "Joe's Place"),
        ("\N{SLICE OF PIZZA}", None),
        ("東京水道", None),
        ("\u202eAcme", "Acme"),
        ("سباكة", None),
    ],
)
def test_name_is_drawn_only_in_letters_of_the_font(name: str, drawn: str | None) -> None:
    """Boxes in place of a name would look like a fault of the business."""
    assert drawn == share_card.drawable(name)


@pytest.mark.parametrize(
    "members",
    [
        {"name": "x" * 200},
        {"name": "word " * 40},
        {"name": "سباكة"},
        {"host": "a" * 250, "count": "9" * 80},
        {"average": None, "count": "No reviews yet"},
        {"initials": "★"},
        {"initials": "李小"},
    ],
)
def test_share_card_holds_any_content(members: dict[str, Any]) -> None:
    image, _ = card(**members)
    edge = image.crop((1188, 0, 1200, 630)).getcolors()
    assert [(12 * 630, (255, 255, 255))] == edge or "count" in members


def test_logo_is_drawn_on_the_share_card() -> None:
    out = BytesIO()
    Image.new("RGBA", (40, 20), "#ff0000").save(out, "PNG")
    image, _ = card(logo=Picture("image/png", out.getvalue()))
    assert (255, 0, 0) == image.getpixel((96 + 70, 84 + 70))
    assert (255, 255, 255) == image.getpixel((96 + 70, 84 + 10))


def test_font_of_headings_is_small_and_free() -> None:
    assert len(extras.FONT_FILE.read_bytes()) < 40_000
    (licence,) = extras.FONT_FILE.parent.glob("LICENSE-*.txt")
    assert "SIL Open Font License, Version 1.1" in licence.read_text()


def test_shipped_icon_is_one_picture_in_the_default_accent() -> None:
    with Image.open(icons.SHIPPED) as icon:
        colors = [color for _, color in icon.convert("RGB").getcolors(1 << 10) or []]
        assert {(32, 32)} == icon.info["sizes"]
    accent = theme.colours(Pages().accent)["accent"]
    assert ImageColor.getrgb(accent) in colors


def counted(*days: str) -> Statistics:
    dates = map(datetime.date.fromisoformat, days)
    return Statistics(by_month=Counter((date.year, date.month) for date in dates))


def test_months_end_with_the_newest_review() -> None:
    result = counted("2025-03-01", "2025-03-31", "2025-01-31", "2023-12-31")
    assert ((2025, 1, 1), (2025, 2, 0), (2025, 3, 2)) == result.months(3)
    assert (2023, 12, 1) == result.months(24)[0]
    assert ((2025, 3), (2023, 1)) == result.years()
    assert () == counted().months(24)
    assert () == counted().years()
