"""Ids of reviews, as both programs compare them."""

import re
from typing import Final

_ULID: Final = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_TIME: Final = 10  # characters of a ULID that are its time


def merge_key(review_id: str) -> str:
    """Return what two versions of one review have in common.

    A ULID without its time: some platforms give an edited review a new date, and the edited one
    replaces the old one. Any other id is compared whole.
    """
    return review_id[_TIME:] if _ULID.fullmatch(review_id) else review_id
