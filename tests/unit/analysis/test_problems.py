"""Problems count if they are the business's, happened, and were not made good (decision 423)."""

import pytest

from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import InsightSettings
from reviewsd.domain.reviews import Business


def _problems(text: str, language: str = "en", stars: int = 2) -> list[str]:
    rules = Rules(Business(name="B", language=language), InsightSettings(language=language))
    return [problem.id for problem in rules.label(text, stars).problems]


@pytest.mark.parametrize(
    ("language", "text", "problem"),
    [
        ("en", "They scratched my floor and left.", "property-damage"),
        ("en", "They left a mess that I had to clean up.", "mess-left-behind"),
        ("en", "They left a mess and never cleaned it.", "mess-left-behind"),
        ("en", "They overcharged me and never refunded it.", "billing-mistake"),
        ("en", "They were rude when I called.", "rude-staff"),
        ("en", "A very rude person came to the till.", "rude-staff"),  # in a longer complaint
        ("en", "The staff were unfriendly and slow.", "rude-staff"),
        ("en", "They arrived late but called ahead.", "late-arrival"),
        ("en", "The young man never showed up.", "no-show"),
        ("en", "We liked them before. They overcharged me.", "billing-mistake"),
        ("en", "Got a surprise charge of $65 for the varnish.", "price-above-quote"),
        ("en", "Was charged for an x-ray I never agreed to.", "price-above-quote"),
        ("en", "Ended up paying 30% more than quoted.", "price-above-quote"),
        ("en", "They added a fuel fee.", "price-above-quote"),
        ("en", "They broke my grandmother's lamp.", "property-damage"),
        ("en", "The couch got ripped.", "property-damage"),
        ("en", "Left a big hole in the drywall.", "property-damage"),
        ("en", "Sat in the waiting room for 50 minutes.", "long-wait"),
        ("en", "He snapped at me.", "rude-staff"),
        ("en", "My 10 am started at 10:40.", "long-wait"),
        ("en", "I waited nearly an hour past my slot.", "long-wait"),
        ("en", "It was promised for Friday and still wasn't done.", "late-finish"),
        ("en", "Then a letter for another 410 came.", "price-above-quote"),
        ("en", "Quoted 900, then charged 1,640.", "price-above-quote"),
        ("en", "I rang eleven times.", "no-callback"),
        ("en", "The phone just rings and rings.", "no-callback"),
        ("de", "Drei Monate später kam plötzlich eine Rechnung.", "price-above-quote"),
        ("de", "Aus 200 Euro wurden plötzlich 650.", "price-above-quote"),
        ("de", "Am Ende 2.300 \u20ac mehr als im Angebot.", "price-above-quote"),
        ("de", "Auf der Rechnung standen zwei Bier, die wir nie hatten.", "billing-mistake"),
        ("de", "Saß 40 Minuten im Wartezimmer trotz Termin.", "long-wait"),
        ("de", "Der Monteur kam anderthalb Stunden später als ausgemacht.", "late-arrival"),
        ("de", "Hat zwei Tage länger gedauert als zugesagt.", "late-finish"),
        ("de", "Bis elf Uhr war immer noch niemand da.", "no-show"),
        ("de", "Telefonisch ist kein Durchkommen.", "no-callback"),
        ("de", "Der Kellner hat die Teller hingeknallt.", "rude-staff"),
        ("de", "Den Müll haben sie einfach im Hof gelassen.", "mess-left-behind"),
        ("de", "Er hat die Wasserleitung in der Wand angebohrt.", "property-damage"),
        ("de", "Warte jetzt die dritte Woche auf mein Auto.", "long-wait"),
        ("de", "Der Termin wurde mir am Morgen gecancelt.", "cancelled-appointment"),
        ("de", "Die telefonische Erreichbarkeit ist sehr schlecht.", "no-callback"),
        ("de", "Kommt erst eine Stunde später dran.", "long-wait"),
        ("de", "Die Wartezeiten am Empfang sind endlos.", "long-wait"),
        ("de", "Trotz Terminvereinbarung 1,5 Stunden Wartezeit.", "long-wait"),
    ],
)
def test_event_that_happened_is_a_problem(language: str, text: str, problem: str) -> None:
    assert [problem] == _problems(text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I was queuing for 20 minutes."),
        ("en", "It took us over an hour."),
        ("de", "Eine halbe Stunde kam niemand."),
        ("fr", "Une heure pour avoir le plat."),
        ("es", "La fila es muy larga."),
        ("es", "Hay largas filas para entrar."),
        ("es", "Se hace larga la espera."),
        ("it", "Una lunga coda."),
        ("nl", "Na een halfuur eindelijk eten."),
    ],
)
def test_queue_or_hour_without_service_is_a_long_wait(language: str, text: str) -> None:
    assert ["long-wait"] == _problems(text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        # the job, or made good
        ("en", "He repaired the damaged floor and left."),
        ("en", "They left a mess, but came back the same day and cleaned everything up."),
        ("en", "They overcharged me at first but refunded it at once."),
        ("de", "Plötzlich war der Strom weg, 50 Minuten später war er da."),
        ("de", "Ich hatte Angst vor einer Rechnung Monate später."),
        ("de", "Die alte Firma kam nie. Sie wollte plötzlich 300 Euro mehr."),
        ("de", "Der alte Betrieb war nie erreichbar."),
        ("de", "Wir mussten den Termin leider kurzfristig absagen."),
        ("de", "Die angebohrte Leitung hat er am selben Tag repariert."),
        ("de", "Ich hatte Angst, dass man mich für dumm verkauft."),
        ("de", "Ich kam eine halbe Stunde zu spät."),
        ("de", "Sie haben den Kratzer im Boden repariert."),
        ("en", "No surprise charges and no extra fees."),
        ("en", "The hole in the drywall was patched perfectly."),
        ("en", "He swore it was all out."),
        ("en", "Nobody came to tell me anything."),
        ("en", "I drove over on Friday."),
        # of another business
        ("en", "The last plumber never showed up. They overcharged me."),
        ("en", "Our old dentist was rude. He overcharged me for years."),
        ("de", "Der letzte Handwerker kam nie. Er war unfreundlich."),
        # the usual
        ("de", "Nach acht kam niemand mehr an den Tisch."),
        ("es", "Lo que cobran es muy poco."),
        # never happened
        ("en", "If you are late they cancel your appointment."),
        ("en", "People say they are rude."),
        ("en", "I thought they'd try to sell me something."),
        ("de", "Wenn man zu spät kommt, wird der Termin abgesagt."),
        ("it", "Mai visto un locale così."),
        ("de", "Aber so weit kam es nicht, es kam nicht dazu."),
        # bad service, which is not rude
        ("en", "Terrible customer service."),
        ("en", "The staff were unhelpful."),
        ("en", "Such a lack of professionalism."),
        ("de", "Schlechter Service."),
        ("de", "Es ist unmöglich, hier zu parken."),
        ("de", "Er hat das mit dem Handy fotografiert."),
        ("fr", "Service médiocre et accueil moyen."),
        ("es", "El servicio es pésimo y la atención muy mala."),
        ("it", "Il servizio è pessimo."),
        ("pt", "O atendimento é péssimo."),
        ("nl", "De bediening was ronduit slecht."),
        # of the customers
        ("en", "I missed my appointment and they charged me."),
        ("en", "The dishwasher broke, so I called them."),
        ("en", "My husband missed our appointment and they were nice about it."),
    ],
)
@pytest.mark.parametrize("stars", [2, 4])
def test_event_denied_or_made_good_is_no_problem(language: str, text: str, stars: int) -> None:
    assert [] == _problems(text, language, stars)
