"""Takeout's "Maps (your places)/Reviews.json": never imported, often taken for the right file."""

from typing import NoReturn

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.format import Format, Head, Rules
from reviewsctl.importing.values import members


def _likeness(head: Head) -> float:
    properties = members(head.sample[0].get("properties")) if head.sample else {}
    return head.shape == "json" and float(
        head.around.get("type") == "FeatureCollection"
        or "five_star_rating_published" in properties
        or "review_text_published" in properties
    )


def _refuse(_head: Head, _rules: Rules) -> NoReturn:
    raise ImportRefusedError(
        "these are reviews that the Google account wrote about other places (Maps, your places), "
        "not reviews that the business received",
        'At takeout.google.com choose "Google Business Profile" instead, signed in as an owner or '
        "manager of the business.",
    )


FORMAT = Format(
    name="maps",
    title='Google Takeout, Maps (your places): not importable, see "takeout"',
    leaves="everything",
    likeness=_likeness,
    parser=_refuse,
)
