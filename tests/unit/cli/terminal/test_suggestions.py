"""Lines of insights.yaml that are commented out."""

import pytest
import yaml

from reviewsctl.terminal.suggestions import suggestion_lines
from reviewsd.analysis.suggesting import Candidate, Suggestions


@pytest.mark.parametrize("name", ["Sam", "O'Brien", "yes", "No", "5", "a: b", "#x", "Zoë 😀"])
def test_suggested_line_is_the_candidate_as_yaml(name: str) -> None:
    """YAML would take some names for truth, numbers or remarks."""
    result = Candidate(name=name, also=("x", name), reviews=3, quotation="q", review_id="r")
    lines = list(
        suggestion_lines(
            Suggestions(
                reviews=9, total=22, technicians=(result,), services=(), aspects=(), preset=()
            )
        )
    )

    assert [{"name": name, "aliases": ["x", name]}] == yaml.safe_load(lines[-1].removeprefix("# "))
    assert all(line.startswith("#") for line in lines if line)
    assert "## Reads English alone: candidates for insights.yaml from 9 of 22 reviews." == lines[0]
