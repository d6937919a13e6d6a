"""The result of a run, with its tokens: estimated before, as the server reports them after (insights.md 7)."""

from dataclasses import asdict, dataclass
from typing import Final

from reviewsd.api.texts import counted

BYTES: Final = 4  # bytes of a token, about; more in English, fewer in other languages
ANSWERED: Final = 70  # tokens of the labels of a review, about
MIN_COMPARED: Final = 5  # texts with opinions, below which they are not compared with the stars
SERVED_INSTEAD: Final = "insights.json is there, and is served until you move it away"


def line(tokens_in: int, tokens_out: int, origin: str = "") -> str:
    """Return tokens as words."""
    return f"{tokens_in:,} tokens in and {tokens_out:,} out{origin}"


@dataclass(slots=True)
class Counts:
    """The results of a run, by the names of its JSON."""

    reviews_by_model: int = 0
    reviews_by_rules: int = 0
    asked: int = 0
    """Reviews that this run has sent to the model."""
    labels: int = 0
    refused: int = 0
    """Labels and entries that failed the verification, in the last request for each batch."""
    contradicting: int = 0
    """Texts whose labels contradict the stars, among those that have opinions (``compared``)."""
    compared: int = 0
    sentences: int = 0
    """Sentences of the summary that the model wrote; 0 if it is not used."""
    questions: int = 0
    dropped: tuple[str, ...] = ()
    """The faults of sentences and questions that were not true, in the last request for them."""
    has_file: bool = False
    """Whether there is an insights.json, which is served instead."""
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_estimated: bool = False
    """Whether an answer had no usage."""

    def document(self) -> dict[str, object]:
        """Return the result as a JSON object."""
        return {"type": "result"} | asdict(self)

    def lines(self) -> list[str]:
        """Return the result as sentences."""
        sentences = []
        if self.asked:
            origin = (
                "estimated, the server reports none" if self.tokens_estimated else "as reported"
            )
            tokens = line(self.tokens_in, self.tokens_out, f", {origin}")
            sentences = [f"used {tokens}"]
            sentences.append(
                f"{counted(self.labels, 'label')} for {counted(self.asked, 'text')}; refused, as not in the lists or not in"
                f" the text: {self.refused:,}"
            )
        if self.sentences:
            sentences.append(
                f"wrote a summary of {counted(self.sentences, 'sentence')} and"
                f" {counted(self.questions, 'question')};"
                f" dropped: {len(self.dropped)}"
            )
        elif self.dropped:
            sentences.append("fewer than two sentences are true; the summary of the rules stands")
        sentences += [f"dropped {fault}" for fault in self.dropped]
        sentences.append(
            f"read by a model: {counted(self.reviews_by_model, 'review')}, by rules:"
            f" {self.reviews_by_rules:,}; all are counted by rules"
        )
        return sentences

    def warning(self, model: str) -> str | None:
        """Return a warning if most labels contradict the stars."""
        if self.compared < MIN_COMPARED or 2 * self.contradicting <= self.compared:
            return None
        return (
            f"in {self.contradicting:,} of {self.compared:,} texts the labels of {model} contradict the"
            " stars; see reviewsctl insights compare. The labels of another --model replace them"
        )
