"""``reviewsctl insights`` of a folder without a daemon or a configuration."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reviewsctl.commands.root import app
from reviewsd.analysis.kept_labels import KeptLabel, encoded
from reviewsd.analysis.labels import text_key
from reviewsd.analysis.model_labels import AspectAnswer, ReviewAnswer
from reviewsd.analysis.settings import InsightSettings
from reviewsd.publish.insights_settings import examine
from tests.support.columns import review

REVIEWS = [
    review(
        "a", text="Priya was on time. The price was fair, but the hall was left dirty.", rating=5
    ),
    *(
        review(name, text="Nobody showed up, and they charged more than quoted.", rating=1)
        for name in "bcde"
    ),
]


def write(folder: Path, reviews: Sequence[object]) -> None:
    document = {"business": {"name": "\x1b[1mB"}, "reviews": reviews}
    (folder / "reviews.json").write_text(json.dumps(document))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, REVIEWS)
    (tmp_path / "insights.yaml").write_text("technicians: [{name: Priya Raman, aliases: [Priya]}]")
    return tmp_path


def printed(folder: Path, *arguments: str, code: int = 0) -> tuple[str, str]:
    """Return what the command prints, in this process, where the rules are loaded once."""
    done = CliRunner().invoke(app, ["insights", *arguments, "--data", str(folder)])
    assert code == done.exit_code, done.stderr
    return done.stdout, done.stderr


def test_made_insights_are_shown_as_a_table(folder: Path) -> None:
    output, _ = printed(folder)
    assert "insights       made from 5 reviews by rules\n" in output
    assert (
        "  Pricing                             5  ████░░░░░░░░░░░░░░░░   20% positive\n" in output
    )
    assert "  Priya Raman                         1  no share: fewer than 3 mentions\n" in output
    assert "  Cleanliness                         1  no share: fewer than 5 mentions\n" in output
    assert (
        "\nproblems (only you see them; `publish: [problems]` in insights.yaml publishes" in output
    )
    assert "  No-show                             4\n" in output
    with (folder / "insights.yaml").open("a") as settings:
        settings.write("\npublish: [problems]\n")
    output, _ = printed(folder)
    assert "\nproblems\n  No-show                             4\n" in output


def test_people_have_the_aspects_that_several_reviews_praise_in_them(folder: Path) -> None:
    kind = [review(name, text=f"Priya was friendly. Job {name}.", rating=5) for name in "abc"]
    write(folder, kind)
    output, _ = printed(folder)
    row = "Priya Raman                         3  ████████████████████  100% positive"
    assert f"  {row}; praised for: Friendliness\n" in output


def test_a_file_that_says_little_is_shown_with_no_more(folder: Path) -> None:
    """Absent is not zero."""
    few = {"id": "y", "mention_count": 2}
    insights = {"model": "gpt", "aspects": ["Speed", {"id": "x"}, few], "per_review": {"a": {}}}
    (folder / "insights.json").write_text(json.dumps(insights))
    output, _ = printed(folder)
    assert "insights       insights.json by gpt\n" in output
    assert output.endswith(
        "\naspects\n  Speed\n  x\n"
        "  y                                   2  no share: insights.json has none\n"
    )


def test_person_without_opinions_has_a_reason_instead_of_a_share(folder: Path) -> None:
    reviews = [review(name, text="Priya came. It rained.", rating=3) for name in "vwxyz"]
    write(folder, reviews)
    output, _ = printed(folder)
    assert (
        "  Priya Raman                         5  no share: too few of them have an opinion\n"
        in output
    )


def test_why_a_review_has_its_labels(folder: Path) -> None:
    output, _ = printed(folder, "explain", "a")
    assert output.startswith('a, 5 stars\n\n"Priya was on time')
    assert 'Punctuality: positive, found by "on time"; the phrase says so' in output
    assert "a word such as but is in the sentence" in output
    _, errors = printed(folder, "explain", "none", code=4)
    assert "no review has the id 'none', which you find by its author or words: " in errors
    assert "WORDS\nList them: reviewsctl reviews list" in errors
    entry = {"action": "hide", "at": "2026-01-03T00:00:00Z", "reason": "spam"}
    corrections = folder / "corrections.json"
    corrections.write_text(json.dumps({"version": 1, "reviews": {"a": entry}}))
    _, errors = printed(folder, "explain", "a", code=4)
    assert "a is hidden, so insights do not count it\n" in errors
    corrections.unlink()

    answer = ReviewAnswer(
        aspects=(AspectAnswer(id="cleanliness", sentiment="negative", phrase="left dirty"),)
    )
    key = text_key(str(REVIEWS[0]["text"]), 5)
    line = encoded(KeptLabel(text=key, model="tiny", lists="", labels=answer))
    (folder / "insights.labels").write_bytes(line)
    output, _ = printed(folder, "explain", "a")
    expected = 'tiny read it, whose labels count:\n  Cleanliness: negative, by "left dirty"\n'
    assert expected in output
    assert output.index(expected) < output.index("the rules alone:")


def test_explanation_names_what_the_owner_named(folder: Path) -> None:
    """It had the ids of aspects, and did not mention people, services and problems at all."""
    (folder / "insights.yaml").write_text(
        "technicians: [{name: Priya Raman, aliases: [Priya]}]\n"
        "services: [{id: svc-3, label: Hall lamps, words: [hall]}]\n"
        "aspects: {asp_1: {label: The hall, words: [hall], complaint: [left dirty]}}\n"
    )
    output, _ = printed(folder, "explain", "a")
    assert '  The hall: negative, found by "hall", "left dirty"; ' in output
    assert output.endswith(
        "\n\nalso mentioned:\n"
        '  Priya Raman: positive, in "Priya was on time"\n'
        '  Hall lamps, in "but the hall was left dirty"\n'
    )
    assert not any(name in output for name in ("priya-raman", "svc-3", "asp_1", "punctuality"))
    document = json.loads(printed(folder, "explain", "a", "--json")[0])
    assert "asp_1" in [a["aspect"] for a in document["clauses"][-1]["aspects"]]
    assert "The hall" == document["names"]["aspects"]["asp_1"]
    assert {"priya-raman": "Priya Raman"} == document["names"]["technicians"]
    problems, _ = printed(folder, "explain", "b")
    assert '\nalso mentioned:\n  No-show, in "Nobody showed"' in problems


def test_insights_made_by_rules_are_written_and_replaced_only_on_request(folder: Path) -> None:
    file = folder / "insights.json"
    printed(folder, "write")
    file_text = json.loads(file.read_bytes())
    assert ["e", "d", "c", "b", "a"] == sorted(file_text["per_review"], reverse=True)
    assert (
        [] == file_text["entities"]["problems"]
    )  # it is served as it is, and nobody has asked for them
    assert "lexicon-15" == file_text["model"]
    file.write_text('{"model": "mine"}')
    _, errors = printed(folder, "write", code=1)
    assert "is there already" in errors
    output, _ = printed(folder, "write", "--replace")
    assert "the old one is insights.json.bak" in output
    assert file_text == json.loads(file.read_bytes())
    _, errors = printed(folder, "write", "--replace", code=1)
    assert "insights.json.bak is there already\nMove it away, or remove it.\n" in errors
    assert '{"model": "mine"}' == (folder / "insights.json.bak").read_text()


def test_candidates_are_lines_of_insights_yaml_that_publish_nothing(folder: Path) -> None:
    """Each is commented out; without the marks all of them are valid."""
    before = (folder / "insights.yaml").read_text()
    texts = ["Sam fixed our garage door. The parking was awful."] * 3
    reviews = [review(f"r{n}", text=text) for n, text in enumerate(texts)]
    document = {"business": {"name": "B", "category": "Plumber"}, "reviews": reviews}
    (folder / "reviews.json").write_text(json.dumps(document))
    output, _ = printed(folder, "suggest")
    assert "## 3 reviews, such as: Sam fixed our garage door.\n#   - {name: Sam}\n" in output
    assert (InsightSettings(), []) == examine(output.encode())
    settings, faults = examine(re.sub("^# ", "", output, flags=re.MULTILINE).encode())
    assert [] == faults
    assert ["Sam"] == [entry.name for entry in settings.technicians]
    assert "garage-door" == (settings.services or ())[-1].id
    assert "leak-repair" in {entry.id for entry in settings.services or ()}  # of the preset
    assert ["parking"] == list(settings.aspects)
    assert before == (folder / "insights.yaml").read_text()


def test_a_file_is_compared_with_what_the_rules_make(folder: Path) -> None:
    _, errors = printed(folder, "compare", code=4)
    assert "there is no insights.json, nor are there labels of a model" in errors
    insights = {
        "model": "mine",
        "aspects": [{"label": "Pricing", "mention_count": 1}, "Speed"],
        "entities": {"technicians": [{"id": "t1", "name": "Priya Raman", "positive_pct": 50}]},
        "per_review": {
            "a": {"technicians": ["t1"], "aspects": [{"id": "pricing", "sentiment": "negative"}]}
        },
    }
    (folder / "insights.json").write_text(json.dumps(insights))
    output, _ = printed(folder, "compare")
    assert "trend          none; by the rules stable\n" in output
    assert "  Pricing                               1               5   20%\n" in output
    assert "  Speed                                 ?               -\n" in output
    assert "  Priya Raman                           ?   50%         1\n" in output
    assert "\n  No-show  " in output
    assert "mentions in 1 review                   file   rules    both\n" in output
    assert (
        "  aspects                                 1       3       1, 0 of them with the same"
        in output
    )
    assert "  people                                  1       1       1\n" in output


def test_labels_are_compared_by_the_name_of_the_model(folder: Path) -> None:
    """A heading "file" would be read as insights.json, which does not exist."""
    (reviewed, *_) = json.loads((folder / "reviews.json").read_bytes())["reviews"]
    key = text_key(reviewed["text"], reviewed["rating"])
    label = KeptLabel(text=key, model="tiny", lists="", labels=ReviewAnswer())
    (folder / "insights.labels").write_bytes(encoded(label))
    output, _ = printed(folder, "compare")
    assert "share that is positive: by the model, and by the rules\n" in output
    assert "\nmodel          made from " in output
    assert f"{'aspects':<36}{'model':>7}{'rules':>16}\n" in output
    assert "file" not in output.replace(str(folder), "")


def test_broken_settings_are_told(folder: Path) -> None:
    (folder / "insights.yaml").write_text("technicans: []")
    _, errors = printed(folder, code=1)
    assert 'insights.yaml:1:1: technicans: unknown key "technicans"' in errors


def test_options_before_a_command_are_refused(folder: Path) -> None:
    """They would be ignored."""
    done = CliRunner().invoke(app, ["insights", "--data", str(folder), "suggest"])
    assert 2 == done.exit_code
    assert "put the options after the command: reviewsctl insights suggest" in done.stderr
