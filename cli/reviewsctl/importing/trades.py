"""The trade of a business as schema.org names it: ``Bakery`` of "Bakkerij"."""

import functools
from collections.abc import Mapping

from reviewsctl.importing.values import normal
from reviewsctl.importing.vocabulary.words import words_in
from reviewsd.domain.local_business import local_business_types


def trade_of(*names: str | None) -> str | None:
    """Return the type of the first name that is one, or is known for one; None if none is.

    Args:
        names: As Google has them: an id, as ``gcid:auto_repair_shop``, and a name in the owner's language.
    """
    types = _types()
    keys = (normal((name or "").rpartition("gcid:")[2]) for name in names)
    return next((types[key] for key in keys if key in types), None)


@functools.cache
def _types() -> Mapping[str, str]:
    types = {normal(name): name for name in local_business_types()}
    foreign = {
        normal(word): name
        for name, words in words_in("trades.toml").table.items()
        for word in words
    }
    return foreign | types
