"""QR codes as SVG, for paper and for screens of other people (pages.md 1)."""

from markupsafe import Markup

MAX_ADDRESS = 300
"""Characters of an address; the code of a longer one has too many dots for a telephone."""


def code(address: str) -> Markup:
    """Return the code of an address as an SVG element, black on white in both themes.

    Args:
        address: At most ``MAX_ADDRESS`` characters.
    """
    import segno  # noqa: PLC0415  an earlier publication has drawn most codes

    drawn = segno.make_qr(address, error="m").svg_inline(
        omitsize=True, border=4, dark="#000", light="#fff", svgclass="qr", lineclass=None
    )
    return Markup(drawn)  # noqa: S704  squares alone
