"""The types of businesses that schema.org knows, as ``business.category`` names them."""

from functools import cache
from pathlib import Path
from typing import Final

import msgspec

_FILE: Final = Path(__file__).parent / "local_business_types.json"


@cache
def local_business_types() -> frozenset[str]:
    """Return the subtypes of LocalBusiness (schema.org 30.0)."""
    return frozenset(msgspec.json.decode(_FILE.read_bytes())["types"])
