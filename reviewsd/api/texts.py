"""Texts of reviews, as both programs compare them."""


def plain_text(text: str) -> str:
    """Return a text without differences of case and white space."""
    return " ".join(text.casefold().split())
