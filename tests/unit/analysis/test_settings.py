import msgspec
import pytest

from reviewsd.analysis.settings import (
    AspectSetting,
    InsightSettings,
    NamedTechnician,
    ServiceSetting,
)
from reviewsd.publish.insights_settings import examine


@pytest.mark.parametrize(
    ("settings", "faults"),
    [
        (InsightSettings(), []),
        (
            InsightSettings(
                technicians=(
                    NamedTechnician(name="Priya Raman"),
                    NamedTechnician(name="priya raman"),
                )
            ),
            [("technicians[1].name", "duplicate of technicians[0].name")],
        ),
        (
            InsightSettings(
                technicians=(
                    NamedTechnician(name="Dan Moe", aliases=("Dan",)),
                    NamedTechnician(name="Dan Poe", aliases=("dan", "\u2605")),
                )
            ),
            [
                ("technicians[1].aliases[0]", "duplicate of technicians[0].aliases[0]"),
                ("technicians[1].aliases[1]", "has no letters"),
            ],
        ),
        (
            InsightSettings(
                services=(
                    ServiceSetting(id="a", label="A", words=("x",)),
                    ServiceSetting(id="A", label="B", words=(), with_=("!",)),
                )
            ),
            [
                ("services[1].id", "duplicate of services[0].id"),
                ("services[1].words", "must not be empty"),
                ("services[1].with[0]", "has no letters"),
            ],
        ),
        (
            InsightSettings(
                services=(ServiceSetting(id="a", label="A", words=("C++", "c", "R&D")),)
            ),
            [("services[0].words[0]", 'would match every "c", since symbols do not count')],
        ),
        (
            InsightSettings(aspects={"pricing": AspectSetting(label="P", words=())}),
            [
                ("aspects.pricing", "is an aspect of every trade; choose another name"),
                ("aspects.pricing.words", "must not be empty"),
            ],
        ),
    ],
)
def test_faults(settings: InsightSettings, faults: list[tuple[str, str]]) -> None:
    assert list(settings.faults()) == faults


def test_the_file_says_with() -> None:
    given = b'{"services":[{"id":"a","label":"A","words":["b"],"with":["c"]}]}'
    settings = msgspec.json.decode(given, type=InsightSettings)
    assert settings.services == (ServiceSetting(id="a", label="A", words=("b",), with_=("c",)),)


def test_unknown_keys_are_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        msgspec.json.decode(b'{"technican":[]}', type=InsightSettings)


def test_the_digest_tells_settings_apart() -> None:
    one = InsightSettings(technicians=(NamedTechnician(name="A"),))
    assert one.digest() == InsightSettings(technicians=(NamedTechnician(name="A"),)).digest()
    assert one.digest() != InsightSettings(technicians=(NamedTechnician(name="B"),)).digest()
    assert InsightSettings(services=()).digest() != InsightSettings().digest()


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        (
            b"technicians: [Dave]",
            'technicians[0]: expected object, got string "Dave"; for example: technicians: [{name: Priya Raman}]',
        ),
        (
            b"technicians: {name: Dave}",
            "technicians: expected array, got object; for example: technicians: [{name: Priya Raman}]",
        ),
        (
            b"technicians: [{name: Dave, aliases: Davy}]",
            'technicians[0].aliases: expected array, got string "Davy"; for example: aliases: [Priya]',
        ),
        (
            b"services: [boilers]",
            'services[0]: expected object, got string "boilers"; for example: services: [{id: ac-repair, label: AC repair, words: [air conditioner, ac unit]}]',
        ),
        (
            b"aspects: [parking]",
            "aspects: expected object, got array; for example: aspects: {parking: {label: Parking, words: [parking]}}",
        ),
        (
            b"publish: problems",
            'publish: expected array, got string "problems"; for example: publish: [problems]',
        ),
    ],
)
def test_value_of_another_type_is_answered_with_an_example(text: bytes, finding: str) -> None:
    _, (problem,) = examine(text)
    assert finding == f"{problem.path}: {problem.reason}"


def test_section_of_another_trade_is_refused_with_the_one_that_has_people() -> None:
    """The people of a practice are no technicians to its owner."""
    _, (fault,) = examine(b"therapists:\n- name: Anna\n")
    assert fault.reason == (
        'unknown key "therapists"; there are: technicians, services, aspects, language, publish; '
        "technicians are your people, whatever their work"
    )
