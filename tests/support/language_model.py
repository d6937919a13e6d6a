"""A server of a language model on loopback: honest, unless a test gives it something else to do.

It speaks OpenAI's API, and keeps all requests.
"""

import json
import threading
from collections.abc import Callable
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from tests.support.source_stub import Asked, Stub, response

Review = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Received(Asked):
    """A request for labels."""

    @property
    def document(self) -> Any:
        return json.loads(self.body)

    @property
    def system(self) -> str:
        """The instructions."""
        return str(self.document["messages"][0]["content"])

    @property
    def reviews(self) -> list[Review]:
        reviews: list[Review] = json.loads(self.document["messages"][-1]["content"])
        return reviews


Answer = Callable[[Received], list[Review] | str | bytes | None]
"""Entries of reviews, a text of the model, a whole response, or None for one that never comes."""


def honest(received: Received) -> list[Review]:
    """Every review with words praises or blames the work, by its stars."""
    return [
        {
            "id": review["id"],
            "aspects": [
                {
                    "id": "work_quality",
                    "sentiment": "positive" if review["rating"] > 3 else "negative",
                    "phrase": review["text"][:20],
                }
            ],
            "technicians": [],
            "services": [],
            "problems": [],
        }
        for review in received.reviews
    ]


class LanguageModel(Stub):
    """The server.

    Args:
        answers: The answers to the first requests; later requests are answered honestly.
        identity: Its certificate with the key; it then speaks TLS.
    """

    def __init__(self, *answers: Answer, identity: Path | None = None) -> None:
        super().__init__(identity=identity)
        self.url += "/v1"
        self.answers = list(answers)
        self.answer = self._answer
        self.received: list[Received] = []
        self.requests = threading.Semaphore(0)
        """Released with each request."""

    def _answer(self, asked: Asked) -> bytes | None:
        number, received = len(self.received), Received(*astuple(asked))
        self.received.append(received)
        self.requests.release()
        answer = (self.answers[number] if number < len(self.answers) else honest)(received)
        if answer is None or isinstance(answer, bytes):
            return answer
        text = answer if isinstance(answer, str) else json.dumps({"reviews": answer})
        document = {
            "choices": [{"message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 100},
        }
        return response(json.dumps(document))
