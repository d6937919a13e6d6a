"""Insights made in the publishing process (insights.md 1 and 2)."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from reviewsd.analysis.analysing import Analyser
from reviewsd.analysis.kept_labels import KeptLabel, encoded
from reviewsd.analysis.labels import text_key
from reviewsd.analysis.model_labels import AspectAnswer, ReviewAnswer
from reviewsd.analysis.model_summary import KeptSummary, Sentence
from reviewsd.analysis.settings import InsightSettings
from reviewsd.api.jobs import InsightsOrigin
from reviewsd.domain.reviews import Business
from reviewsd.pages.locales import words_of_insights
from reviewsd.publish import made_insights
from reviewsd.publish.messages import Outcome
from reviewsd.snapshot import layout
from tests.support.columns import Review, review
from tests.support.publishing import NOW, Directories

LATER = NOW + 60

REVIEWS = [
    review("a", text="Priya was on time and friendly. The price was fair.", rating=5),
    review("b", text="Nobody showed up, and they never called back.", rating=1),
    review("c", text="", rating=4),
    review("d", text="Priya was on time and friendly. The price was fair.", rating=5),
]


@pytest.fixture
def directories(tmp_path: Path) -> Directories:
    return Directories(tmp_path)


def publish(directories: Directories, *reviews: Review, now: float = NOW) -> Outcome:
    directories.write(*reviews)
    return directories.publish(now, insights="auto")


def insights(directories: Directories) -> dict[str, Any]:
    results: dict[str, Any] = json.loads((directories.current / "insights.json").read_bytes())
    return results


def analysers(monkeypatch: pytest.MonkeyPatch) -> list[Analyser]:
    """Those of each later publication in this process."""
    results: list[Analyser] = []

    def make(*arguments: Any) -> Analyser:
        results.append(Analyser(*arguments))
        return results[-1]

    monkeypatch.setattr(made_insights, "Analyser", make)
    return results


def analysed(analysers: list[Analyser]) -> list[int]:
    """Return the number of texts that each publication analysed."""
    return [item.analysed for item in analysers]


def test_reviews_alone_have_insights(directories: Directories) -> None:
    assert publish(directories, *REVIEWS).result == "published"
    results = insights(directories)
    assert [item["id"] for item in REVIEWS] == sorted(results["per_review"])
    assert ("lexicon-15", 4) == (results["model"], results["review_count"])
    served = json.loads((directories.current / "reviews.json").read_bytes())
    assert served["updated_at"] == results["generated_at"]
    origin = InsightsOrigin(made=True, model="lexicon-15", reviews=4)
    assert origin == directories.manifest().insights_origin
    directories.check_tidy()


def test_a_given_file_is_served_and_nothing_is_made(directories: Directories) -> None:
    late = {"entities": {"problems": ["Late"]}, "per_review": {"a": {"problems": ["Late"]}}}
    given = {"model": "gpt", "generated_at": "2026-11-02T00:00:00Z", **late}
    directories.write(*REVIEWS, insights=given)
    directories.publish(insights="auto")
    assert ["Late"] == insights(directories)["entities"]["problems"]
    assert late["per_review"] == insights(directories)["per_review"]
    origin = InsightsOrigin(
        made=False, model="gpt", reviews=1, generated_at="2026-11-02T00:00:00+00:00"
    )
    assert origin == directories.manifest().insights_origin
    directories.check_tidy()


def test_without_being_asked_nothing_is_made(directories: Directories) -> None:
    directories.write(*REVIEWS)
    directories.publish()
    assert (False, None) == (
        directories.manifest().insights,
        directories.manifest().insights_origin,
    )


def test_changes_are_analysed(directories: Directories, monkeypatch: pytest.MonkeyPatch) -> None:
    results = analysers(monkeypatch)
    publish(directories, *REVIEWS)
    publish(directories, *REVIEWS, review("e", text="Great work.", rating=5), now=LATER)
    publish(directories, *REVIEWS, review("e", text="Great work.", rating=2), now=LATER)
    (directories.data / "insights.yaml").write_text(
        "technicians: [{name: Priya Raman, aliases: [Priya]}]"
    )
    directories.publish(LATER, insights="auto")
    assert [2, 1, 1, 3] == analysed(results)


def test_settings_republish_and_edit_that_says_same_does_not(directories: Directories) -> None:
    publish(directories, *REVIEWS)
    settings = directories.data / "insights.yaml"
    settings.write_text("technicians: [{name: Priya Raman, aliases: [Priya]}]")
    assert directories.publish(LATER, insights="auto").result == "published"
    (person,) = insights(directories)["entities"]["technicians"]
    assert ("priya-raman", 2) == (person["id"], person["mention_count"])
    settings.write_text("# who\ntechnicians: [{name: Priya Raman, aliases: [Priya]}]")
    assert directories.publish(LATER, insights="auto").result == "unchanged"
    assert directories.seen().fingerprint.settings is not None
    directories.check_tidy()


def test_broken_settings_are_refused_with_all_faults_and_places(directories: Directories) -> None:
    publish(directories, *REVIEWS)
    before = directories.manifest()
    (directories.data / "insights.yaml").write_text("technician:\n- name: Priya\nlanguage: 3\n")
    (directories.data / "reviews.json").write_text('{"reviews":[]}')
    for mode in ("auto", "file"):
        refused = directories.publish(LATER, insights=mode)
        assert (refused.result, refused.problems) == (
            "refused",
            (
                'insights.yaml:1:1: technician: unknown key "technician"; did you mean "technicians"?',
                "insights.yaml:3:11: language: expected string or null, got integer 3",
                "reviews.json: $.business: missing",
            ),
        )
    assert before == directories.manifest()


PRICES = "What do customers say about the prices?"


def label(directories: Directories, *labels: tuple[str, int, ReviewAnswer]) -> None:
    """Keep labels of a model for texts with ratings."""
    lines = [
        encoded(KeptLabel(text=text_key(text, stars), model="tiny", lists="", labels=answer))
        for text, stars, answer in labels
    ]
    (directories.data / "insights.labels").write_bytes(b"".join(lines))


def test_kept_labels_are_used_for_their_texts(directories: Directories) -> None:
    """Rules read the others, an edited text among them, and ``method`` says how many."""
    publish(directories, *REVIEWS)
    text = str(REVIEWS[0]["text"])
    aspect = AspectAnswer(id="cleanliness", sentiment="negative", phrase="price was fair")
    invented = AspectAnswer(id="scheduling", sentiment="negative", phrase="not in the text")
    label(directories, (text, 5, ReviewAnswer(aspects=(aspect, invented))))
    assert directories.publish(LATER, insights="auto").result == "published"
    results = insights(directories)
    assert {"model": 2, "rules": 1} == results["method"]["labelled"]
    assert ("tiny", "tiny, lexicon-15") == (results["method"]["model"], results["model"])
    assert "2 read by the language model tiny, 1 by rules" in results["method"]["note"]
    expected = [{"id": "cleanliness", "sentiment": "negative", "phrase": "price was fair"}]
    assert (
        expected == results["per_review"]["a"]["aspects"] == results["per_review"]["d"]["aspects"]
    )
    assert directories.seen().fingerprint.labels is not None

    edited = REVIEWS[0] | {"text": f"{text} Really."}
    assert publish(directories, edited, *REVIEWS[1:], now=LATER).result == "published"
    assert {"model": 1, "rules": 2} == insights(directories)["method"]["labelled"]
    (directories.data / "insights.labels").unlink()
    directories.publish(LATER, insights="auto")
    assert "labelled" not in insights(directories)["method"]
    directories.check_tidy()


def test_answer_quotes_the_sentence_that_a_model_labeled(directories: Directories) -> None:
    """Rules find nothing in it."""
    texts = [f"Bad hair day {n}. Here I always know why." for n in range(5)]
    publish(directories, *[review(f"{n}", text=text, rating=5) for n, text in enumerate(texts)])
    aspect = AspectAnswer(id="communication", sentiment="positive", phrase="I always know why")
    answer = ReviewAnswer(aspects=(aspect,))
    assert not insights(directories)["faq"]
    label(directories, *[(text, 5, answer) for text in texts])
    directories.publish(LATER, insights="auto")
    (entry,) = insights(directories)["faq"]
    assert "Here I always know why." in entry["answer"]


def test_label_of_a_hidden_review_is_not_used(directories: Directories) -> None:
    phrase = "Nobody showed up"
    aspect = AspectAnswer(id="cleanliness", sentiment="negative", phrase=phrase)
    label(directories, (str(REVIEWS[1]["text"]), 1, ReviewAnswer(aspects=(aspect,))))
    hidden = {"b": {"action": "hide", "reason": "spam", "at": "2026-01-01T00:00:00Z"}}
    document = {"version": 1, "reviews": hidden}
    (directories.data / "corrections.json").write_text(json.dumps(document))
    publish(directories, *REVIEWS)
    assert "labelled" not in insights(directories)["method"]
    for file in directories.current.iterdir():
        assert phrase.encode() not in file.read_bytes(), file.name


def test_answers_of_rules_follow_the_questions_of_a_model(directories: Directories) -> None:
    """Two questions of a model took the place of five answers; the same subject is not asked twice."""
    texts = [f"The price was fair {n}. The staff was so friendly to us." for n in range(6)]
    reviews = [review(f"{n}", text=text, rating=5) for n, text in enumerate(texts)]
    publish(directories, *reviews)
    before = insights(directories)["faq"]
    assert ["Are they friendly?", PRICES] == [entry["question"] for entry in before]

    lists = Analyser(
        Business(name="B"), InsightSettings(), words_of_insights(Business(name="B"))
    ).lists

    def answer(about: str, text: str, question: str) -> Sentence:
        return Sentence(
            about=about,
            text=text,
            question=question,
            sentiment="positive",
            reviews={"0": text_key(texts[0], 5)},
        )

    fair = answer("pricing", '6 call it "price was fair".', "Fair?")
    count = answer("reviews", "6 reviews.", "How many?")
    kept = KeptSummary(summary=(), faq=(fair, count), model="tiny", lists=lists)
    (directories.data / "insights.labels").write_bytes(encoded(kept))
    directories.publish(LATER, insights="auto")
    faq = insights(directories)["faq"]
    assert ["Fair?", "How many?", "Are they friendly?"] == [entry["question"] for entry in faq]
    assert before[0] == faq[2]


def test_kept_summary_is_used_while_it_is_true(directories: Directories) -> None:
    """An edited review, another count or other lists bring the summary of the rules back."""
    text = str(REVIEWS[0]["text"])
    lists = Analyser(
        Business(name="B"), InsightSettings(), words_of_insights(Business(name="B"))
    ).lists

    def sentence(count: int, question: str = "") -> Sentence:
        return Sentence(
            text=f"{count} reviews give stars, 75 %.",
            about="reviews",
            sentiment="positive",
            reviews={"a": text_key(text, 5)},
            question=question,
        )

    def keep(count: int, lists: str) -> None:
        faq = sentence(count, "How many?"), sentence(4, "Many?")
        kept = KeptSummary(summary=(sentence(count),) * 2, faq=faq, model="tiny", lists=lists)
        (directories.data / "insights.labels").write_bytes(encoded(kept))

    keep(4, lists)
    publish(directories, *REVIEWS)
    results = insights(directories)
    assert "4 reviews give stars, 75 %. 4 reviews give stars, 75 %." == results["summary"]
    assert ("How many?", ["a"]) == (
        results["faq"][0]["question"],
        results["faq"][0]["example_review_ids"],
    )
    assert "tiny" == results["method"]["written_by"]
    assert "The language model tiny wrote" in results["method"]["note"]

    edited = REVIEWS[0] | {"text": "Priya was on time."}
    for count, own_lists, reviews in (
        (4, lists, (edited, *REVIEWS[1:])),
        (4, "other", REVIEWS),
        (5, lists, REVIEWS),
    ):
        keep(count, own_lists)
        publish(directories, *reviews, now=LATER)
        assert "give stars" not in json.dumps(insights(directories))


@pytest.mark.parametrize("content", [None, b"", b"\xff\n", b"[" * 100_000 + b"\n{}\n"])
def test_broken_labels_are_a_warning(directories: Directories, content: bytes | None) -> None:
    """None is a folder in place of the file; an empty file has nothing that is broken."""
    path = directories.data / "insights.labels"
    path.mkdir() if content is None else path.write_bytes(content)
    published = publish(directories, *REVIEWS)
    assert published.result == "published"
    assert bool(content != b"") == bool(published.left_out)
    assert all(line.startswith("insights.labels: ") for line in published.left_out)
    assert "lexicon-15" == insights(directories)["model"]


@pytest.mark.parametrize("damage", [b"", b"x", b"\xff" * 64, None])
def test_damaged_blocks_are_made_again(
    directories: Directories, monkeypatch: pytest.MonkeyPatch, damage: bytes | None
) -> None:
    results = analysers(monkeypatch)
    publish(directories, *REVIEWS)
    blocks_file = directories.current / layout.BLOCKS
    content = blocks_file.read_bytes()
    size = int.from_bytes(content[-8:], "little")
    # None: the end is whole, and what it points at is not
    blocks_file.write_bytes(b"\xc1" * size + content[size:] if damage is None else damage)
    publish(directories, *REVIEWS[::-1], review("e", text="Great work.", rating=5), now=LATER)
    assert [2, 3] == analysed(results)
    publish(directories, *REVIEWS, now=LATER)
    assert [2, 3, 0] == analysed(results)


@pytest.mark.parametrize("error", [ZeroDivisionError("ours"), MemoryError()])
def test_a_fault_of_the_analyser_leaves_the_reviews_served(
    directories: Directories, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object, **__: object) -> object:
        raise error

    monkeypatch.setattr(made_insights, "Analyser", fail)
    outcome = publish(directories, *REVIEWS)
    assert outcome.result == "published"
    manifest = directories.manifest()
    assert manifest.insights_origin is not None
    if isinstance(error, MemoryError):
        reason = "they take more memory than there is"
    else:
        reason = "ZeroDivisionError: ours"
        assert "in fail" in outcome.insights_fault
    assert (False, reason) == (manifest.insights, manifest.insights_origin.fault)
    assert not (directories.current / "insights.json").exists()
    directories.check_tidy()


def test_a_full_disk_is_no_fault_of_the_analyser(
    directories: Directories, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> object:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(made_insights, "Analyser", fail)
    outcome = publish(directories, *REVIEWS)
    assert ("failed", "") == (outcome.result, outcome.insights_fault)
    (problem,) = outcome.problems
    assert re.fullmatch(
        r"the disk is full: \S+ \S+ are free at /\S+, and a publication needs more", problem
    )
    assert [] == list(directories.snapshots.iterdir())


def test_changed_rules_republish(directories: Directories, monkeypatch: pytest.MonkeyPatch) -> None:
    order = directories.job(insights="auto").order
    before = order.build_key("1")
    assert before != directories.job(insights="file").order.build_key("1")
    monkeypatch.setattr("reviewsd.publish.messages.RULES", "lexicon-0")
    assert before != order.build_key("1")
