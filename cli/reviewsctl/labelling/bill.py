"""What a run costs: an estimate before, what the server reports after (insights.md 7, cost)."""

from dataclasses import dataclass
from typing import Final

from reviewsctl.labelling.model import Reply

BYTES: Final = 4  # UTF-8 of a token, roughly; more in English, fewer in other languages
ANSWERED: Final = 70  # tokens of the labels of a review, roughly
_MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """Of a million tokens, in whatever currency; None where they are not given."""

    tokens_in: float | None = None
    tokens_out: float | None = None

    def cost(self, tokens_in: int, tokens_out: int) -> float | None:
        """Of so many tokens."""
        if self.tokens_in is None or self.tokens_out is None:
            return None
        return (self.tokens_in * tokens_in + self.tokens_out * tokens_out) / _MILLION


class Bill:
    """What has been used.

    Args:
        prices: What tokens cost.
        most: What all may cost, if there is an end.
    """

    def __init__(self, prices: Prices, most: float | None) -> None:
        self.prices = prices
        self._most = most
        self.tokens_in = self.tokens_out = 0
        self.guessed = False
        """Whether an answer came without its usage."""

    @property
    def cost(self) -> float | None:
        """Until now; None without prices."""
        return self.prices.cost(self.tokens_in, self.tokens_out)

    def affords(self, size: int, reviews: int) -> bool:
        """Whether a question of so many bytes is within the limit."""
        more = self.prices.cost(size // BYTES, ANSWERED * reviews)
        if self._most is None or more is None or self.cost is None:
            return True
        return self.cost + more <= self._most

    def add(self, reply: Reply, size: int) -> None:
        """Add an answer to a question of so many bytes."""
        self.guessed |= reply.tokens_in is None or reply.tokens_out is None
        given, said = reply.tokens_in, reply.tokens_out
        self.tokens_in += size // BYTES if given is None else given
        self.tokens_out += (
            len(reply.text.encode(errors="replace")) // BYTES if said is None else said
        )

    def line(self) -> str:
        """For people."""
        how = "estimated, the server reports none" if self.guessed else "as reported"
        cost = "" if self.cost is None else f", {self.cost:,.2f} by the given prices"
        return f"{self.tokens_in:,} tokens in and {self.tokens_out:,} out, {how}{cost}"


def estimate(prices: Prices, size: int, reviews: int) -> str:
    """What so many bytes and reviews will take, for people."""
    tokens_in, tokens_out = size // BYTES, ANSWERED * reviews
    cost = prices.cost(tokens_in, tokens_out)
    priced = "" if cost is None else f", {cost:,.2f} by the given prices"
    return f"about {tokens_in:,} tokens in and {tokens_out:,} out{priced}"
