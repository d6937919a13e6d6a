"""The owner's logo: served as it is, or left out with the reason (pages.md 4.1)."""

import struct
import zlib
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from reviewsd.api.places import LOGO_FILES
from reviewsd.pages import icons, pictures, svg
from reviewsd.pages.pictures import Picture, PictureError, examined
from tests.support.pages import Place, review

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">%b</svg>'
GOOD = SVG % (
    b'<defs><linearGradient id="g"><stop offset="0"/></linearGradient></defs>'
    b'<style>.a{fill:url(#g)}</style><path class="a" style="stroke:#fff" d="M0 0h9v9z"/>'
    b'<use href="#g"/><image href="data:image/png;base64,AAAA"/>'
)


def pixels(kind: str = "PNG", size: tuple[int, int] = (4, 4), **options: object) -> bytes:
    out = BytesIO()
    Image.new("RGB", size, "#0b6e6e").save(out, kind, **options)
    return out.getvalue()


def png_header(width: int, height: int) -> bytes:
    """A PNG of few bytes that declares many pixels."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = (header, b"IDAT" + zlib.compress(bytes(100)), b"IEND")
    chunks = (struct.pack(">I", len(part) - 4) + part for part in parts)
    checked = (chunk + struct.pack(">I", zlib.crc32(chunk[4:])) for chunk in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(checked)


def gray_of_16_bits() -> bytes:
    out = BytesIO()
    Image.new("I;16", (4, 4), 0x8000).save(out, "PNG")
    return out.getvalue()


def moving(kind: str) -> bytes:
    frames = [Image.new("RGB", (4, 4), color) for color in ("#000", "#fff")]
    out = BytesIO()
    frames[0].save(out, kind, save_all=True, append_images=frames[1:], lossless=True)
    return out.getvalue()


def test_icon_is_reduced_from_the_logo_itself() -> None:
    """Enlarging a logo of 32 pixels first would blur its edges."""
    pattern = Image.new("RGBA", (32, 32), "#fff")
    pattern.paste("#000", (0, 0, 11, 32))
    out = BytesIO()
    pattern.save(out, "PNG")
    favicon, _ = icons.icons(Picture("image/png", out.getvalue()), "#0b6e6e")
    with Image.open(BytesIO(favicon)) as image:
        assert pattern.tobytes() == image.convert("RGBA").tobytes()


@pytest.mark.parametrize(
    ("name", "content", "media_type", "is_raster"),
    [
        ("logo.svg", GOOD, "image/svg+xml", False),
        ("logo.png", pixels(), "image/png", True),
        ("logo.webp", pixels("WEBP"), "image/webp", True),
        ("logo.webp", pixels("WEBP", lossless=True), "image/webp", True),
        ("logo.png", pixels(size=(2_000, 2_000)), "image/png", True),
    ],
)
def test_usual_picture_is_published(
    name: str, content: bytes, media_type: str, *, is_raster: bool
) -> None:
    picture = examined(name, content)
    assert (media_type, content, is_raster) == (
        picture.media_type,
        picture.content,
        picture.is_raster,
    )


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("logo.png", bytes(pictures.MAX_BYTES + 1), "larger than 512 kB"),
        ("logo.png", b"", "no PNG picture"),
        ("logo.png", GOOD, "no PNG picture"),
        ("logo.webp", pixels(), "no WEBP picture"),
        ("logo.png", png_header(50_000, 50_000), "damaged: .* exceeds limit"),
        ("logo.png", png_header(5_000, 10), "5,000 x 10 pixels; at most 4,096 a side"),
        ("logo.png", png_header(4_000, 4_000), "4,000 x 4,000 pixels; at most"),
        ("logo.png", png_header(0, 5), "no PNG picture"),
        ("logo.png", pixels()[:-30], "damaged"),
        ("logo.png", png_header(10, 10), "damaged"),
        ("logo.webp", pixels("WEBP")[:-30], "damaged"),
        ("logo.png", moving("PNG"), "it moves"),
        ("logo.png", gray_of_16_bits(), "a gray of 16 bits; save it with 8"),
        ("logo.webp", moving("WEBP"), "it moves"),
    ],
)
def test_unusable_picture_is_refused(name: str, content: bytes, reason: str) -> None:
    with pytest.raises(PictureError, match=reason):
        examined(name, content)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (SVG % b"<script>alert(1)</script>", "has a script (<script>) (line 1)"),
        (SVG % b"\n<SCRIPT/>", "has a script (<script>) (line 2)"),
        (SVG % b'<a:script xmlns:a="x"/>', "has a script"),
        (SVG % b'<path onload="x()"/>', "has a script (onload)"),
        (SVG % b'<a href="javascript:x()"/>', "refers to another file (href)"),
        (SVG % b'<image href="https://a.example/b.png"/>', "refers to another file (href)"),
        (
            SVG % b'<use xmlns:x="http://www.w3.org/1999/xlink" x:href="b.svg#a"/>',
            "refers to another file (href)",
        ),
        (SVG % b'<image href="data:image/svg+xml;base64,AAAA"/>', "refers to another file"),
        (SVG % b'<path fill="url(https://a.example)"/>', "refers to another file (url)"),
        (SVG % b"<path style=\"fill:url( 'b.svg' )\"/>", "refers to another file (url)"),
        (SVG % b"<style>@import 'a.css';</style>", "refers to another file (style)"),
        (SVG % b"<style>@im/**/port 'a.css';</style>", "escapes or comments"),
        (SVG % rb"<style>a{b:\75rl(c)}</style>", "escapes or comments"),
        (SVG % b"<style>@im<!-- -->port 'a.css';</style>", "refers to another file (style)"),
        (SVG % b"<foreignObject/>", "has a foreign part (<foreignobject>)"),
        (b"<!DOCTYPE svg>" + GOOD, "has a document type"),
        (b'<!DOCTYPE s [<!ENTITY a "b">]>' + GOOD, "has a document type"),
        (b'<?xml-stylesheet href="a.css"?>' + GOOD, "has a processing instruction"),
        (b"<svg/>", "is no SVG picture"),
        (b"<html/>", "is no SVG picture"),
        (b"", "no XML"),
        (SVG % b"<g>", "no XML: mismatched tag (line 1)"),
        (b'<?xml version="1.0" encoding="nonsense"?><svg/>', "no XML"),
        (pixels(), "no XML"),
    ],
)
def test_svg_with_scripts_or_references_is_refused(content: bytes, reason: str) -> None:
    refusal = svg.refusal(content)
    assert refusal is not None
    assert reason in refusal


@given(st.binary(max_size=200))
def test_bytes_of_any_kind_are_a_picture_or_a_reason(content: bytes) -> None:
    usable, findings = pictures.examine(dict.fromkeys(LOGO_FILES, content))
    assert {*LOGO_FILES} == usable.keys() | {finding.file for finding in findings}


def test_logo_is_served_under_a_policy_of_its_own(place: Place) -> None:
    (place.directories.data / "logo.svg").write_bytes(GOOD)
    place.publish([review()])
    response = place.get("/logo")
    (policy,) = response.values("content-security-policy")
    assert (200, GOOD) == (response.status, response.body)
    assert ["image/svg+xml"] == response.values("content-type")
    assert ["nosniff"] == response.values("x-content-type-options")
    assert policy.startswith("default-src 'none'; ")
    assert "sandbox" in policy
    assert "script" not in policy
    for target in ("/", "/r/a", "/reviews?rating=4", "/developers"):
        images = [image["src"] for image in place.page(target).named("img")]
        assert ["/logo"] == images, target
    assert '"logo":"https://reviews.example/logo"' in place.page("/").scripts[0]


def icon(place: Place, path: str) -> Image.Image:
    return Image.open(BytesIO(place.get(path).body)).convert("RGB")


def links_to_icons(place: Place) -> list[str]:
    return [link["href"] for link in place.page("/").named("link") if "icon" in link["rel"]]


ICONS = ["/favicon.ico", "/favicon.svg", "/apple-touch-icon.png"]


def test_icons_are_a_star_without_a_logo(place: Place) -> None:
    place.publish([review()])
    assert ICONS == links_to_icons(place)
    assert (180, 180) == icon(place, ICONS[2]).size
    assert (11, 110, 110) == icon(place, ICONS[2]).getpixel((0, 0))
    assert b'fill="#0b6e6e"' in place.get(ICONS[1]).body


def test_icons_are_made_of_the_logo(place: Place) -> None:
    """A tab of the browser with a star says nothing about the business."""
    (place.directories.data / "logo.png").write_bytes(pixels(size=(400, 200)))
    place.publish([review()])
    assert [ICONS[0], ICONS[2]] == links_to_icons(place)
    small, touch = icon(place, ICONS[0]), icon(place, ICONS[2])
    assert ((32, 32), (180, 180)) == (small.size, touch.size)
    assert [(11, 110, 110)] * 2 == [small.getpixel((16, 16)), touch.getpixel((90, 90))]
    assert (255, 255, 255) == touch.getpixel((90, 10))


def test_transparent_logo_has_a_ground_and_a_margin_on_telephones(place: Place) -> None:
    out = BytesIO()
    logo = Image.new("RGBA", (200, 200), "#0b6e6e")
    logo.putpixel((0, 0), (0, 0, 0, 0))
    logo.save(out, "PNG")
    (place.directories.data / "logo.png").write_bytes(out.getvalue())
    place.publish([review()])
    touch = icon(place, ICONS[2])
    assert [(255, 255, 255), (11, 110, 110)] == [touch.getpixel((at, 90)) for at in (10, 20)]


def test_svg_logo_is_the_icon_as_it_is(place: Place) -> None:
    (place.directories.data / "logo.svg").write_bytes(GOOD)
    place.publish([review()])
    response = place.get(ICONS[1])
    assert GOOD == response.body
    assert "sandbox" in response.values("content-security-policy")[0]
    assert ICONS == links_to_icons(place)


def test_icon_of_the_operator_comes_before_the_logo(place: Place) -> None:
    (place.templates / "favicon.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (place.directories.data / "logo.svg").write_bytes(GOOD)
    (place.directories.data / "logo.png").write_bytes(pixels())
    place.publish([review()])
    assert b"<svg xmlns='http://www.w3.org/2000/svg'/>" == place.get(ICONS[1]).body
    assert ICONS == links_to_icons(place)


def test_first_usable_logo_is_served(place: Place) -> None:
    (place.directories.data / "logo.svg").write_bytes(SVG % b"<script/>")
    (place.directories.data / "logo.png").write_bytes(pixels())
    outcome = place.publish([review()])
    assert outcome.result == "published"
    (finding,) = outcome.left_out
    assert "logo.svg: has a script (<script>) (line 1); the pages are shown without it" == finding
    assert ["image/png"] == place.get("/logo").values("content-type")


def test_new_logo_is_published_and_a_removed_one_goes(place: Place) -> None:
    logo = place.directories.data / "logo.png"
    place.publish([review()])
    assert 404 == place.get("/logo").status
    logo.write_bytes(pixels())
    assert place.again().result == "published"
    assert pixels() == place.get("/logo").body
    assert place.again().result == "unchanged"
    logo.unlink()
    assert place.again().result == "published"
    assert 404 == place.get("/logo").status
    assert not place.page("/").named("img")


def test_unusable_logo_never_stops_a_publication(place: Place, tmp_path: Path) -> None:
    """Links out of the folder could publish any file that the service can read."""
    secret = tmp_path / "secret.png"
    secret.write_bytes(pixels())
    (place.directories.data / "logo.png").symlink_to(secret)
    (place.directories.data / "logo.svg").mkdir()
    (place.directories.data / "logo.webp").write_bytes(bytes(pictures.MAX_BYTES + 1))
    outcome = place.publish([review()])
    assert outcome.result == "published"
    assert (
        "logo.svg: cannot read: not a regular file; the pages are shown without it",
        "logo.png: leads out of the data directory; the pages are shown without it",
        "logo.webp: larger than 524288 bytes; the pages are shown without it",
    ) == outcome.left_out
    assert 404 == place.get("/logo").status


def test_link_within_the_data_directory_is_followed(place: Place) -> None:
    """Kubernetes mounts files so."""
    data = place.directories.data
    (data / "..data").mkdir()
    (data / "..data" / "logo.png").write_bytes(pixels())
    (data / "logo.png").symlink_to("..data/logo.png")
    place.publish([review()])
    assert pixels() == place.get("/logo").body
