"""The cost of a run: estimated before, and as the server reports it after (insights.md 7, cost)."""

from dataclasses import dataclass
from typing import Final

from reviewsctl.labelling.model import Reply

BYTES: Final = 4  # bytes of a token, about; more in English, fewer in other languages
ANSWERED: Final = 70  # tokens of the labels of a review, about
_MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices of a million tokens in any currency; None if unknown."""

    tokens_in: float | None = None
    tokens_out: float | None = None

    def cost(self, tokens_in: int, tokens_out: int) -> float | None:
        """Return the cost of tokens, or None without prices."""
        if self.tokens_in is None or self.tokens_out is None:
            return None
        return (self.tokens_in * tokens_in + self.tokens_out * tokens_out) / _MILLION


class Bill:
    """The tokens that a run has used.

    Args:
        prices: The prices of tokens.
        limit: The largest cost of the run, or None.
    """

    def __init__(self, prices: Prices, limit: float | None) -> None:
        self.prices = prices
        self._limit = limit
        self.tokens_in = self.tokens_out = 0
        self.guessed = False
        """Whether an answer had no usage."""

    @property
    def cost(self) -> float | None:
        """The cost until now; None without prices."""
        return self.prices.cost(self.tokens_in, self.tokens_out)

    def affords(self, size: int, reviews: int) -> bool:
        """Return whether a request of ``size`` bytes is within the limit."""
        cost = self.prices.cost(size // BYTES, ANSWERED * reviews)
        if self._limit is None or cost is None or self.cost is None:
            return True
        return self.cost + cost <= self._limit

    def add(self, reply: Reply, size: int) -> None:
        """Add the usage of an answer to a request of ``size`` bytes."""
        self.guessed |= reply.tokens_in is None or reply.tokens_out is None
        tokens_in, tokens_out = reply.tokens_in, reply.tokens_out
        answer = len(reply.text.encode(errors="replace"))
        self.tokens_in += size // BYTES if tokens_in is None else tokens_in
        self.tokens_out += answer // BYTES if tokens_out is None else tokens_out

    def line(self) -> str:
        """Return the bill as a sentence."""
        origin = "estimated, the server reports none" if self.guessed else "as reported"
        cost = "" if self.cost is None else f", {self.cost:,.2f} by the given prices"
        return f"{self.tokens_in:,} tokens in and {self.tokens_out:,} out, {origin}{cost}"


def estimate(prices: Prices, size: int, reviews: int) -> str:
    """Return the estimate for a number of bytes and reviews as a sentence."""
    tokens_in, tokens_out = size // BYTES, ANSWERED * reviews
    cost = prices.cost(tokens_in, tokens_out)
    price = "" if cost is None else f", {cost:,.2f} by the given prices"
    return f"about {tokens_in:,} tokens in and {tokens_out:,} out{price}"
