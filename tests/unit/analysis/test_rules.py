"""Sentences as customers write them, and what they say about the business."""

from pathlib import Path

import pytest

from reviewsd.analysis.labels import WORDLESS
from reviewsd.analysis.presets import preset
from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import (
    AspectSetting,
    InsightSettings,
    NamedTechnician,
    ServiceSetting,
)
from reviewsd.domain.reviews import Business
from tests.support.detector import needs_detector

_BUSINESS = Business(
    name="B", category="Plumber", service_areas=("Ellery", "North Ellery", "Bath", "Saltmarsh")
)
_SETTINGS = InsightSettings(
    technicians=(
        NamedTechnician(name="Priya Raman", aliases=("Priya",)),
        NamedTechnician(name="Will Stone", aliases=("Will",)),
    ),
    aspects={
        "parking": AspectSetting(
            label="Parking",
            words=("parking",),
            praise=("easy parking",),
            complaint=("nowhere to park",),
        )
    },
)


@pytest.fixture(scope="module")
def rules() -> Rules:
    return Rules(_BUSINESS, _SETTINGS)


@pytest.mark.parametrize(
    ("stars", "text", "expected"),
    [
        # praise and complaint, the stars agreeing
        (5, "They were right on time.", {"punctuality": "positive"}),
        (1, "He showed up two hours late.", {"punctuality": "negative"}),
        (5, "Very reasonable prices.", {"pricing": "positive"}),
        (1, "Total rip off!", {"pricing": "negative"}),
        (5, "She knew exactly what was wrong.", {"technical_knowledge": "positive"}),
        (2, "The tech had no idea what he was doing.", {"technical_knowledge": "negative"}),
        (5, "They kept us informed all the way.", {"communication": "positive"}),
        (1, "Nobody called to say so.", {"communication": "negative"}),
        (5, "Such friendly people.", {"friendliness": "positive"}),
        (1, "The receptionist was rude.", {"friendliness": "negative"}),
        (5, "Excellent workmanship.", {"work_quality": "positive"}),
        (2, "The paint is already peeling.", {"work_quality": "negative"}),
        (5, "They responded quickly.", {"response_time": "positive"}),
        (1, "We waited three hours for a reply.", {"response_time": "negative"}),
        (1, "Nobody ever called us back.", {"response_time": "negative"}),
        (5, "They cleaned up after themselves.", {"cleanliness": "positive"}),
        (1, "The bathroom was filthy.", {"cleanliness": "negative"}),
        (5, "Scheduling was easy.", {"scheduling": "positive"}),
        (1, "They rescheduled twice.", {"scheduling": "negative"}),
        # nothing said
        (5, "Coffee was available all day.", {}),
        (5, "It is right in the heart of the city.", {}),
        (4, "We quickly went to bed.", {}),
        (5, "Great!", {}),
        (1, "Never again.", {"recommendation": "negative"}),
        (5, "We called them late at night.", {}),
        # the stars decide where the clause does not
        (5, "The price was discussed.", {"pricing": "positive"}),
        (1, "The price was discussed.", {"pricing": "negative"}),
        (3, "The price was discussed.", {"pricing": "neutral"}),
        # the clause overrules the stars only where it is clear
        (5, "He was late.", {"punctuality": "negative"}),
        (1, "He was on time.", {"punctuality": "positive"}),
        (2, "Fair enough, no comment.", {}),
        # and one or five stars in a contrast only
        (5, "The ferry was too expensive. Great spot.", {}),
        (1, "Of course he was on time. Avoid.", {}),
        (1, "The place is clean. Avoid.", {}),
        (5, "Great spot, but it was too expensive.", {"pricing": "negative"}),
        (4, "It was too expensive. Great spot.", {"pricing": "negative"}),
        # people of the settings are subjects
        (5, "Priya is lovely.", {"friendliness": "positive"}),
        (5, "The door is lovely.", {"work_quality": "positive"}),
        # words that say nothing without a subject
        (1, "The pond was nice.", {}),
        (5, "He put it on his phone.", {}),
        (3, "The path is steep.", {}),
        (5, "We put a roof on the house.", {}),
        (1, "I had to google it.", {}),
        (1, "I lost my keys.", {}),
        # contrast
        (
            4,
            "Friendly crew, but they were late.",
            {"friendliness": "positive", "punctuality": "negative"},
        ),
        (
            2,
            "Nice people although the work was sloppy.",
            {"friendliness": "positive", "work_quality": "negative"},
        ),
        # a complaint within a longer one is part of it
        (2, "I waited 40 minutes past my appointment.", {"punctuality": "negative"}),
        (2, "I waited 40 minutes.", {"response_time": "negative"}),
        (1, "They charged a $50 no show fee.", {"pricing": "negative"}),
        # no answer is about speed, no news about communication
        (1, "I left two voicemails.", {"response_time": "negative"}),
        (1, "They promised to call me and never did.", {"communication": "negative"}),
        (5, "She answered my emails within the hour.", {"response_time": "positive"}),
        (5, "The last plumber never called back.", {}),
        # negation
        (5, "Never late.", {"punctuality": "positive"}),
        (2, "They were not on time.", {"punctuality": "negative"}),
        (5, "He wasn't rude at all.", {"friendliness": "positive"}),
        (2, "Not friendly.", {"friendliness": "negative"}),
        (5, "Less expensive than the others.", {"pricing": "positive"}),
        (5, "No fuss no overcharging.", {"pricing": "positive"}),
        # opinions beyond a comma are about something else
        (1, "Lessons on Mondays, nice weather.", {}),
        # other businesses, and what would have been
        (5, "My last plumber was rude.", {}),
        (5, "The other company was late.", {}),
        (5, "Cheaper than the other company.", {"pricing": "positive"}),
        (4, "Would have been five stars if they had been on time.", {}),
        (4, "I wish they were on time.", {"punctuality": "negative"}),
        (
            4,
            "Great cut, wish they'd ever start on time.",
            {"work_quality": "positive", "punctuality": "negative"},
        ),
        (1, "He buzzed a line in my neck and laughed it off.", {"friendliness": "negative"}),
        (5, "Five years, and the quality has never slipped.", {"work_quality": "positive"}),
        (3, "The quality has slipped.", {"work_quality": "negative"}),
        (4, "They always call ahead.", {"communication": "positive"}),
        (4, "A table is hard to get, call two weeks ahead.", {}),
        (5, "My only complaint is the price.", {"pricing": "negative"}),
        (4, "The communication could be better.", {"communication": "negative"}),
        (4, "A phone call would have been nice.", {"communication": "negative"}),
        (5, "I was ripped off elsewhere.", {}),
        (1, "Supposed to be the best in town.", {}),
        # the customer's own, and what was kept from them
        (5, "I was late.", {}),
        (5, "They never let me down.", {"work_quality": "positive"}),
        (5, "Told me I didn't need a new one.", {"pricing": "positive"}),
        (5, "I figured it would be expensive.", {}),
        # praise of a trade, and what the work did
        (5, "What a great mechanic.", {}),  # praise of everything
        (5, "Best vet in town, very professional!", {}),
        (4, "We paid $40.", {"pricing": "positive"}),
        (
            2,
            "The tellers aren't knowledgeable, friendly or helpful.",
            {"technical_knowledge": "negative", "friendliness": "negative"},
        ),
        (
            1,
            "None of the employees are overly courteous or friendly.",
            {"friendliness": "negative"},
        ),
        (5, "We never have to wait.", {"response_time": "positive"}),
        (1, "The line is long.", {"response_time": "negative"}),
        (5, "He was informative.", {"communication": "positive"}),
        (5, "A pleasure to work with, and they love what they do.", {"friendliness": "positive"}),
        (4, "I like this branch a great deal.", {}),
        (5, "All of my questions were answered.", {"communication": "positive"}),
        (3, "She passed her exam.", {"work_quality": "positive"}),
        (1, "\u00a3160 for that.", {"pricing": "negative"}),
        # silence, and a wait of weeks
        (2, "They didn't ring back.", {"response_time": "negative"}),
        (4, "Hate the two week wait.", {"scheduling": "negative"}),
        # idioms of any trade
        (5, "Came bang on nine.", {"punctuality": "positive"}),
        (2, "Lessons sometimes start late", {"punctuality": "negative"}),
        (1, "It cost an arm and a leg.", {"pricing": "negative"}),
        (5, "She hit the nail on the head.", {"technical_knowledge": "positive"}),
        (1, "I was left on read.", {"response_time": "negative"}),
        (5, "He put me at ease straight away.", {"friendliness": "positive"}),
        (1, "She rolled her eyes.", {"friendliness": "negative"}),
        (5, "Couldn't be happier with the result.", {"work_quality": "positive"}),
        (3, "They missed a spot.", {"work_quality": "negative"}),
        (5, "They came round the same evening.", {"response_time": "positive"}),
        (5, "They took their shoes off.", {"cleanliness": "positive"}),
        (1, "They left a mess behind.", {"cleanliness": "negative"}),
        (5, "They squeezed me in before closing.", {"scheduling": "positive"}),
        (2, "Fully booked for weeks.", {"scheduling": "negative"}),
        # words of other senses
        (3, "We had a deep clean.", {}),
        (4, "Put your name down early.", {}),
        (5, "I don't care.", {}),
        # the owner's own
        (5, "Easy parking too.", {"parking": "positive"}),
        (2, "There was nowhere to park.", {"parking": "negative"}),
    ],
)
def test_aspects(rules: Rules, stars: int, text: str, expected: dict[str, str]) -> None:
    assert {item.id: item.sentiment for item in rules.label(text, stars).aspects} == expected


def test_one_sentiment_for_each_aspect_and_that_of_its_strongest_clause(rules: Rules) -> None:
    text = "The price was discussed. What a horrible, outrageous rip off of a price."
    (pricing,) = rules.label(text, 2).aspects
    assert pricing.phrase is not None
    assert "rip off" in pricing.phrase


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("They were an hour late.", "late-arrival"),
        ("It took three weeks longer than promised.", "late-finish"),
        ("Total no show.", "no-show"),
        ("They cancelled our appointment.", "cancelled-appointment"),
        ("We waited two hours in line.", "long-wait"),
        ("The bill was $400 more than the estimate.", "price-above-quote"),
        ("They charged me twice.", "billing-mistake"),
        ("They never called back.", "no-callback"),
        ("They had to come back twice.", "repeat-visit"),
        ("They left a huge mess.", "mess-left-behind"),
        ("They scratched our hardwood floor.", "property-damage"),
        ("Two of our boxes are missing.", "missing-items"),
        ("The guy was rude to my wife.", "rude-staff"),
        ("They tried to sell me things I don't need.", "pressure-to-buy"),
        ("They misdiagnosed the problem.", "wrong-diagnosis"),
    ],
)
def test_problems_are_found_up_to_four_stars(rules: Rules, text: str, problem: str) -> None:
    assert problem in {item.id for item in rules.label(text, 2).problems}
    assert problem in {item.id for item in rules.label(text, 4).problems}
    assert rules.label(text, 5).problems == ()


@pytest.mark.parametrize("text", ["They were never late.", "My last plumber was an hour late."])
def test_problem_of_another_business_is_ignored(rules: Rules, text: str) -> None:
    assert rules.label(text, 3).problems == ()


@pytest.mark.parametrize(
    ("text", "aspects"),
    [
        ("A great evening at Friendly Service.", []),
        ("I can recommend Friendly Service's pizza.", ["recommendation"]),
        ("Very friendly service.", ["friendliness"]),
    ],
)
def test_name_of_the_business_is_no_praise(text: str, aspects: list[str]) -> None:
    """A good time "at Vibe Rooms" was quoted as praise of the vibe."""
    rules = Rules(Business(name="Friendly Service, Inc."), InsightSettings())
    quiet = Rules(Business(name="Service Price"), InsightSettings())
    assert not quiet.label("We had a great evening at service price.", 5).aspects
    assert aspects == [label.id for label in rules.label(text, 5).aspects]


@pytest.mark.parametrize("text", ["Rude!", "Rude!!", "Rude ...", "\nRude.", "(Rude)"])
def test_only_clause_of_a_text_overrules_the_stars_whatever_marks_are_around(
    rules: Rules, text: str
) -> None:
    assert {"friendliness": "negative"} == {
        item.id: item.sentiment for item in rules.label(text, 5).aspects
    }


@pytest.mark.parametrize(
    ("text", "aspects"),
    [
        ("They came faster than the other company. They were late.", {"punctuality"}),
        ("Nobody found it. The other company was late.", set()),
        ("I had one like that! The other company was late.", set()),
    ],
)
def test_comparison_in_the_previous_sentence_does_not_count(
    rules: Rules, text: str, aspects: set[str]
) -> None:
    labeled = {item.id for item in rules.label(text, 1).aspects}
    assert aspects == labeled & {"punctuality"}


@pytest.mark.parametrize(
    "text", ["Not friendly.", "Not friendly. Only money.", "Not friendly! Just so."]
)
def test_negation_is_not_excused_by_the_next_sentence(rules: Rules, text: str) -> None:
    assert rules.label(text, 3).words < 0
    assert rules.label("Not only friendly.", 3).words > 0


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Priya was great", ["priya-raman"]),
        ("PRIYA RAMAN!!", ["priya-raman"]),
        ("priya's advice", ["priya-raman"]),
        ("thanks Priya and Will", ["priya-raman", "will-stone"]),
        ("I will call again, will you?", []),
        ("Will use again", []),
        ("Will arrived early", ["will-stone"]),
        ("my wife Anna and our dog Rex liked Mike", []),  # never a guessed person
        ("Apriyan came", []),
    ],
)
def test_people_are_those_of_the_owner(rules: Rules, text: str, names: list[str]) -> None:
    assert [item.id for item in rules.label(text, 5).technicians] == names


@pytest.mark.parametrize(
    ("text", "areas"),
    [
        ("We live in North Ellery", ["north-ellery"]),
        ("the best in Ellery.", ["ellery"]),
        ("in ellery and North Ellery", ["ellery", "north-ellery"]),
        ("saltmarsh says thanks", ["saltmarsh"]),
        ("A new bath for our house in Bath", ["bath"]),
        ("new bath", []),
    ],
)
def test_areas(rules: Rules, text: str, areas: list[str]) -> None:
    assert [item.id for item in rules.label(text, 5).service_areas] == areas


@needs_detector
def test_owners_words_are_found_whatever_the_language(rules: Rules) -> None:
    """A review without rules for its language has the opinion of its stars."""
    labels = rules.label(
        "Priya jest bardzo mi\u0142a i punktualna, easy parking, \u015bwietna robota", 5
    )
    assert ("pl", ["priya-raman"]) == (labels.language, [item.id for item in labels.technicians])
    assert {"parking": "positive"} == {item.id: item.sentiment for item in labels.aspects}


def test_the_owner_may_say_the_language() -> None:
    rules = Rules(_BUSINESS, InsightSettings(language="pl-PL"))
    labels = rules.label("They were on time.", 5)
    assert ("pl", ()) == (labels.language, labels.aspects)


@needs_detector
def test_preset_of_services_is_for_english_alone(rules: Rules) -> None:
    assert ["leak-repair"] == [item.id for item in rules.label("They fixed the leak.", 5).services]
    assert () == rules.label("Przyjechali szybko, \u015bwietna robota, naprawa leak", 5).services


@pytest.mark.parametrize("text", [None, "", "  \n"])
def test_a_rating_without_words(rules: Rules, text: str | None) -> None:
    assert rules.label(text, 5) == WORDLESS


def test_services_of_the_preset_and_of_the_owner() -> None:
    text = "They unclogged the drains and installed a new water heater."
    assert [item.id for item in Rules(_BUSINESS, InsightSettings()).label(text, 5).services] == [
        "drain-cleaning",
        "water-heater-installation",
    ]
    own = ServiceSetting(
        id="ac-repair", label="AC repair", words=("ac unit",), with_=("repair", "fix")
    )
    rules = Rules(_BUSINESS, InsightSettings(services=(own,)))
    assert rules.label("The AC units hummed", 5).services == ()
    assert [item.id for item in rules.label("Called to fix the AC unit", 5).services] == [
        "ac-repair"
    ]


@pytest.mark.parametrize(
    "category",
    [
        "Plumber",
        "HVACBusiness",
        "Electrician",
        "RoofingContractor",
        "GeneralContractor",
        "Locksmith",
        "MovingCompany",
        "AutoRepair",
        "Dentist",
        "Attorney",
        "LegalService",
        "HousePainter",
        "Restaurant",
    ],
)
def test_presets(category: str) -> None:
    services = preset(category)
    assert 10 <= len(services) <= 15
    assert len({item.id for item in services}) == len(services)
    assert not list(InsightSettings(services=services).faults())


@pytest.mark.parametrize(
    ("category", "text", "expected"),
    [
        ("LegalService", "They will help you, trust me.", []),
        ("LegalService", "They wrote our wills.", ["estate-planning"]),
        ("LegalService", "The estate agent praised them, and their charges are fair.", []),
        ("LegalService", "The sale of my flat went through.", ["real-estate"]),
        ("MovingCompany", "Nothing broke, all of it arrived safe.", []),
        ("MovingCompany", "They carried our safe.", ["heavy-items"]),
        ("Locksmith", "I feel safe with him.", []),
        ("GeneralContractor", "In addition they were kind.", []),
        ("GeneralContractor", "They built our addition.", ["addition"]),
        ("Electrician", "He came at short notice, led by Tom.", []),
        ("AutoRepair", "The bill was a shock.", []),
        ("AutoRepair", "New shocks and struts.", ["suspension"]),
        ("Restaurant", "A great place to go.", []),
    ],
)
def test_word_with_another_meaning_names_no_service(
    category: str, text: str, expected: list[str]
) -> None:
    """The page of a solicitor counted nine reviews on wills, of three: "they will"."""
    rules = Rules(Business(name="Sample", category=category), InsightSettings())
    assert expected == [service.id for service in rules.label(text, 5).services]


def test_no_preset_for_other_trades() -> None:
    assert preset("Florist") == ()
    assert preset(None) == ()


def _sentences(signs: str) -> list[tuple[str, str, str]]:
    lines = (Path(__file__).parent / "sentences.txt").read_text("utf-8").splitlines()
    result = [line.split(" ", 2) for line in lines if line and not line.startswith("#")]
    return [(aspect, sign, text) for aspect, sign, text in result if sign in signs]


@pytest.mark.parametrize(("aspect", "sign", "text"), _sentences("+-"))
def test_usual_praise_and_complaints(rules: Rules, aspect: str, sign: str, text: str) -> None:
    """The stars agree, so what is tested is that the words are known."""
    result = {
        item.id: item.sentiment for item in rules.label(text, 5 if sign == "+" else 1).aspects
    }
    assert ("positive" if sign == "+" else "negative") == result.get(aspect)


@pytest.mark.parametrize("stars", [2, 4])
@pytest.mark.parametrize(("aspect", "sign", "text"), _sentences("0"))
def test_phrase_that_only_sounds_like_an_opinion_has_no_aspect(
    rules: Rules, aspect: str, sign: str, text: str, stars: int
) -> None:
    assert aspect not in {item.id for item in rules.label(text, stars).aspects}


@pytest.mark.parametrize(
    ("stars", "text", "expected"),
    [
        (5, "Great breakfast and comfy beds.", {"breakfast": "positive", "beds": "positive"}),
        (5, "The breakfast was delicious.", {"breakfast": "positive"}),
        (2, "Breakfast was cold.", {"breakfast": "negative"}),
        (5, "The food was cold, the breakfast was not.", {"breakfast": "positive"}),
        (
            4,
            "Comfortable beds, but a poor breakfast.",
            {"beds": "positive", "breakfast": "negative"},
        ),
        (5, "Lovely location.", {"location": "positive"}),
        (5, "A great location, ten minutes to the beach.", {"location": "positive"}),
        (1, "The location and the beds are awful.", {"beds": "negative", "location": "negative"}),
        (2, "Das Frühstück war lieblos.", {"breakfast": "negative"}),
        (5, "Bequeme Betten, gutes Frühstück.", {"beds": "positive", "breakfast": "positive"}),
    ],
)
def test_aspect_of_the_owner_is_found_in_phrases_of_the_nine(
    stars: int, text: str, expected: dict[str, str]
) -> None:
    """Such as "great breakfast", which was about the quality alone, and "lovely location", which was about nothing."""
    words = {
        "beds": ("bed", "beds", "Betten"),
        "breakfast": ("breakfast", "Frühstück"),
        "location": ("location",),
    }
    aspects = {name: AspectSetting(label=name, words=matches) for name, matches in words.items()}
    language = "de" if "ü" in text else "en"
    rules = Rules(Business(name="B"), InsightSettings(aspects=aspects, language=language))
    matches = {aspect.id: aspect.sentiment for aspect in rules.label(text, stars).aspects}
    assert expected == {name: matches[name] for name in matches.keys() & aspects.keys()}
