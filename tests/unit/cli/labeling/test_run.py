"""A run of ``reviewsctl insights label``, in this process (insights.md 7)."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewsctl.importing.options import Prompts
from reviewsctl.labeling import run
from reviewsd.api.jobs import Step
from tests.support.columns import review
from tests.support.language_model import LanguageModel, Received, honest


def test_progress_begins_before_any_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model on a small computer needs minutes for it."""
    document = {"business": {"name": "B"}, "reviews": [review("a", text="Fast work.", rating=5)]}
    (tmp_path / "reviews.json").write_text(json.dumps(document))
    steps: list[Step] = []
    before: list[Step] = []

    @contextlib.contextmanager
    def prompts(*, silent: bool) -> Iterator[Prompts]:
        assert not silent
        yield Prompts(progress=steps.append, show=lambda _: None, choose=None)

    def answer(received: Received) -> list[dict[str, object]]:
        before.extend(steps)
        return honest(received)

    monkeypatch.setattr(run, "prompts", prompts)
    with LanguageModel(answer) as model:
        options = run.Options(
            config=None,
            data=tmp_path,
            model="tiny",
            endpoint=model.url,
            key_file=None,
            key_env="",
            yes=False,
            limit=None,
            summary=False,
            quiet=False,
        )
        run.label(options)
    assert [Step(stage="labeling", done=0, total=1)] == before
    assert [*before, Step(stage="labeling", done=1, total=1)] == steps
