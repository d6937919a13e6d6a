"""A title's full stop does not end the sentence, nor the name."""

import pytest

from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import InsightSettings, NamedTechnician
from reviewsd.domain.reviews import Business

SETTINGS = InsightSettings(
    technicians=(NamedTechnician(name="Ana Lopez", aliases=("Dr. Lopez", "Mrs Lopez")),)
)


@pytest.mark.parametrize(
    "text",
    ["I saw Dr. Lopez today.", "Thanks, Dr Lopez!", "We saw Mrs. Lopez.", "Ask for DR. LOPEZ."],
)
def test_people_are_found_by_title_and_name(text: str) -> None:
    labels = Rules(Business(name="Acme"), SETTINGS).label(text, 5)
    assert ["ana-lopez"] == [item.id for item in labels.technicians]
