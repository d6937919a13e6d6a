"""The words of generated reviews, and how to draw them.

Hand-written: the function words and the common words of English reviews, what reviewers say again
and again by aspect, other languages, names, services. Made up: the long tail of rarer words, the
same for every seed, so that benchmarks can name their needles.
"""

import functools
import itertools
import random
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

_T = TypeVar("_T")

_SEED = 20_000
_SIZE = 40_000  # word forms in all; about half of them turn up in 100,000 reviews
_KNEE = 2_000  # the rank from which words get rare faster


def _items(block: str) -> list[str]:
    """The parts of a hand-written block, divided by bars."""
    return [" ".join(item.split()) for item in block.split("|")]


def _words(block: str) -> list[str]:
    """The parts of a hand-written block, divided by blanks."""
    return block.split()


# Every second word of a sentence, the most frequent first.
_GLUE = _words("""
the and to a was I in of they for it my with he on is that we our very this had were so have me at
not as but from you be all out would them his she up an who when are by will did been if just which
again there no after your their before about also because more only what us over than her even how
got back every could then both while can since do never always one two until has or any really off
some still now through into most other too where being went each without within during almost
didn't wasn't it's couldn't I'm won't don't I've we've they're
""")

# The head of the other words, the most frequent first; made-up words follow.
_COMMON = _words("""
great service work time job house team home company price day work professional good recommend
technician staff people call unit new called problem water system heat office friendly quick
experience issue way well first best help next fixed highly thing boiler furnace years week
excellent honest fair phone quote customer clean hours money repair installed everything morning
kitchen bathroom heater replaced appointment same right came told done needed made said used took
knew found worked left asked showed explained arrived fast old leak pipe drain toilet tank pump
valve thermostat filter compressor fan motor noise cold hot warm floor wall roof basement garage
attic yard street door window key lock light wire panel breaker outlet switch meter gas oil bill
estimate invoice deposit discount warranty parts labor fee charge cost cheap expensive reasonable
worth extra free hidden upfront total half double later early late soon weekend Saturday Monday
Friday holiday evening afternoon night minutes hour month year summer winter Christmas storm flood
emergency weather neighbor friend family wife husband kids baby dog cat mother father tenant
landlord owner manager boss crew guy guys gentleman lady receptionist dispatcher plumber
electrician engineer installer apprentice contractor driver expert amazing awesome fantastic
wonderful outstanding superb terrific pleasant polite courteous respectful kind patient helpful
knowledgeable thorough careful efficient prompt punctual reliable trustworthy responsive flexible
tidy neat spotless messy dirty rude careless slow lazy pushy dishonest unprofessional terrible
horrible awful poor disappointed frustrated annoyed angry upset happy pleased satisfied impressed
grateful thankful relieved surprised glad thanks please sorry definitely absolutely totally
completely extremely super pretty quite certainly probably finally immediately quickly promptly
carefully properly correctly perfectly exactly especially unfortunately luckily sadly honestly
basically clearly actually literally nearly simply already review stars rating website online
email text message voicemail number address schedule window-unit follow-up two-hour same-day
check checked inspection inspected test tested tune-up maintenance contract plan annual replacement
installation upgrade remodel project plumbing heating cooling electrical sewer septic gutter
shower faucet sink dishwasher washer dryer fridge oven stove fireplace chimney vent duct air
conditioner conditioning humidity mold smell smoke fire alarm detector carbon monoxide pressure
flow sump circuit voltage battery charger solar inverter insulation paint drywall tile carpet
shoes covers mess trash truck van tools equipment ladder camera photo video manual instructions
permit code inspector city county insurance claim damage mistake fault refund complaint excuse
promise trust reputation pride craftsmanship attention detail quality value business local
competitor others several many few another second third last long short big small huge little
easy hard difficult simple complicated perfect wrong broken stuck clogged frozen loud quiet working
running leaking making getting going coming looking waiting talking asking using having calling
recommended understand offered suggested decided agreed refused charged paid saved spent bought
sold ordered delivered scheduled rescheduled cancelled confirmed answered returned waited ignored
listened cared cleaned finished started stopped broke failed happened changed added removed moved
cut drilled painted sealed 2 3 5 10 15 24 30 45 100% $89 $120 $150 $450 $1,200 7am 8:30 4pm HVAC AC
LED A/C 50-gallon 3rd 1920s DIY BBB OK café naïve résumé façade décor fiancée jalapeño Zürich
""")

# Frequent phrases of reviews, by aspect: ten of praise, then six of complaint.
_PHRASES = {
    "punctuality": """arrived right on time | showed up in the promised window | they came earlier
        than expected | on time and ready to work | called ahead before arriving | always punctual
        | was here at eight sharp | never kept us waiting | the crew was on time both days
        | prompt from the first visit
        | showed up two hours late | nobody came on the agreed day | had to wait all morning
        | the second visit was late again | missed the appointment | kept pushing the arrival back""",
    "pricing": """the price was fair | cheaper than the other quotes | no hidden fees
        | paid exactly what was quoted | very reasonable for the work | gave us a clear estimate
        | the bill was less than expected | good deal overall | upfront about every cost
        | a fair price for great service
        | way too expensive | charged more than the estimate | the bill came as a shock
        | surprise fees at the end | felt overcharged | half the price elsewhere""",
    "technical_knowledge": """really knew the system | found the fault in minutes
        | an expert with old boilers | explained how everything works | diagnosed it at once
        | clearly well trained | solved what two others couldn't | knows the trade inside out
        | had an answer for every question | spotted a problem nobody else saw
        | didn't know the model | guessed at the cause | replaced the wrong part
        | could not find the leak | seemed new to the job | misread the wiring diagram""",
    "communication": """kept us informed all day | answered the phone right away
        | explained each step | great communication from start to finish | texted before arriving
        | easy to talk to | followed up the next day | walked me through the options
        | listened to what we wanted | the office replied within the hour
        | never called back | nobody answers the phone | left without a word
        | three messages and no reply | told something different each time
        | poor communication throughout""",
    "cleanliness": """left the place spotless | cleaned up after the work | wore shoe covers
        | not a speck of dust left | tidy workers | put down sheets before starting
        | took the old unit away | cleaner than before they came | careful with the carpet
        | swept the driveway as well
        | left a mess behind | mud all over the hallway | dust on everything
        | had to clean up after them | scratched the new floor | packaging left in the yard""",
    "courtesy": """friendly and polite | a true gentleman | very respectful of our home
        | kind to my elderly mother | great with the dogs | pleasant to deal with
        | courteous from the first call | patient with my questions | treated us like family
        | such nice people
        | rude on the phone | dismissive and short | talked down to me | argued with my wife
        | not very friendly | hung up on me""",
    "workmanship": """quality work | everything works perfectly | the job was done right
        | neat pipework | first class workmanship | looks better than new | done to a high standard
        | paid attention to detail | took pride in the work | still running without a problem
        | leaking again a week later | sloppy work | had to get it redone | crooked and unfinished
        | broke again after a month | the repair did not hold""",
    "speed": """done within the hour | quick and efficient | finished ahead of schedule
        | fixed the same day | fast service | in and out in forty minutes
        | had heat again by noon | the whole job took one day | back up and running quickly
        | didn't waste any time
        | took forever | dragged on for three weeks | slow to start
        | four visits for a simple repair | waited ten days for a part | no sense of urgency""",
    "scheduling": """easy to book | got an appointment for the next morning | fitted us in
        | booking online was simple | flexible with the date | worked around my shifts
        | came out on a Sunday | the office found a slot | rescheduled without fuss
        | reminder the day before
        | rescheduled three times | no appointments for weeks | lost our booking
        | cancelled at the last minute | double booked | the calendar online is useless""",
    "honesty": """honest and upfront | didn't try to sell me anything | told me I needed no repair
        | trustworthy people | straight answers | showed me the broken part
        | recommended the cheaper fix | integrity is rare these days | no upselling
        | admitted a mistake and fixed it
        | pushed a new unit | tried to upsell | the diagnosis was made up
        | promised one thing and did another | dishonest about the warranty | felt like a scam""",
    "aftercare": """stood behind the warranty | came back at no charge | checked in a month later
        | after sales care is great | the maintenance plan pays off | registered the warranty for us
        | easy to reach afterwards | came back to adjust it | kept every promise
        | we use them every year now
        | the warranty means nothing | ignored us after payment | no help afterwards
        | still waiting for the refund | refused to come back | blamed the manufacturer""",
    "emergency_response": """came out at midnight | saved us on Christmas Eve
        | stopped the flood in time | there within thirty minutes | answered on a holiday
        | a lifesaver in the cold snap | our emergency was handled calmly
        | rushed over when the pipe burst | the night line really works | heat back before dawn
        | the emergency line went to voicemail | emergency meant two days | left us without heat
        | no one on call at the weekend | told us to wait till Monday | the night fee was outrageous""",
}
ASPECTS = list(_PHRASES)
PRAISE = [(aspect, item) for aspect in ASPECTS for item in _items(_PHRASES[aspect])[:10]]
COMPLAINTS = [(aspect, item) for aspect in ASPECTS for item in _items(_PHRASES[aspect])[10:]]
"""Aspect and phrase; a phrase is a sentence or opens one."""

NAMED = _items("""%s came out and | our technician %s | ask for %s | %s was great | thanks to %s
    | %s and the team | a big thank you to %s | %s explained | the installer %s | shout out to %s
    | %s knows | we had %s | I can recommend %s | %s took the time | special thanks to %s
    | sent %s who | %s is the best | big kudos to %s | %s fixed | we asked for %s again""")
SERVICED = _items("""for a %s | we needed a %s | called about %s | had a %s done | booked a %s
    | our %s went well | the %s was | after the %s | quote for %s | second %s this year""")

# Other languages: what divides the words, and the words.
LANGUAGES = [
    (" ", _items("""muy|buen|servicio|el técnico|llegó|a tiempo|rápido|la|reparación|señor|y|amable
        |precio|justo|lo recomiendo|excelente|trabajo|gracias|mañana|calefacción|baño|de|con|niños""")),
    (" ", _items("""très|bon|travail|le|technicien|est|arrivé|à l'heure|réparation|chaudière|merci
        |équipe|sérieuse|prix|correct|je recommande|rapide|propre|ça|où|déjà|et|une|façon|cœur""")),
    (" ", _items("""sehr|gute|Arbeit|der|Techniker|war|pünktlich|freundlich|Heizung|Straße|schnell
        |repariert|Preis|fair|gerne wieder|über|größer|Büro|weiß|und|danke|Rohrbruch|für|alles""")),
    (" ", _items("""İyi|hizmet|çok|teşekkürler|usta|hızlı|geldi|ISINMA|fiyat|uygun|güzel|iş""")),  # noqa: RUF001 - Turkish
    (" ", _items("""очень|хороший|мастер|быстро|приехал|спасибо|рекомендую|котёл|цена|и|работа""")),
    ("、", _items("""とても|丁寧な対応|修理|早い|ありがとうございました|技術者|料金|お願いします""")),
]  # fmt: skip
EMOJI = _items("👍|😊|🙏|⭐⭐⭐⭐⭐|❤️|😡|👏🏽|🔧|🔥|👨‍🔧|😂|💯|🇺🇸|:)|♨️|💧")

_ONSETS = _words("b c d f g h j k l m n p r s t v w br cr dr fl gr pl pr sh st th tr")
_NUCLEI = _words("a e i o u a e i o ai ea ee oo ou")
_CODAS = ["", "", "", *_words("n r s t l m ck nd st ng rt ll")]
_ENDINGS = ["", "", "", "", "s", "ed", "ing", "er", "ly", "tion", "able", "ment"]

FIRST_NAMES = _items("""James|Mary|Robert|Linda|John|Barbara|David|Susan|Karen|Nancy|Lisa|Betty
    |Sandra|Ashley|Emily|Donna|Carol|Amanda|Laura|Rebecca|Priya|Wei|Yuki|Fatima|Omar|Sofía|Renée
    |Björn|Łukasz|Siobhán|Chloé|Jürgen|Zoë|Anaïs|Nguyễn|Ольга|Ahmed|Grace|Ruth|Hannah|Jane|Tom""")
LAST_NAMES = _items("""Smith|Johnson|Brown|Garcia|Miller|Davis|Wilson|Lee|Clark|Hall|Young|King
    |Wright|Hill|Scott|Green|Adams|Baker|Nelson|Carter|O'Brien|Müller|García|Kowalski|D.|K.|M.|R.
    |S.|T.|B.|W.|L.|H.|P.|C.""")
TECHNICIANS = _items("""Mike Alvarez|Sam Whitfield|Carlos Mendes|Dave Kowalczyk|Tony Russo
    |Kevin Obi|Brian Tate|Luis Ortega|Steve Hammond|Marcus Bell|Derek Voss|Jason Pruitt
    |Miguel Santos|Eric Lindqvist|Andre Dupont|Travis Cole|Greg Yamada|Pete Novak|Oscar Reyes
    |Nate Fowler|Javier Cruz|Wayne Duffy|Rick Salazar|Troy Banks|Dmitri Volkov|Ian McAllister
    |Vince Moretti|Hector Ibarra|Colin Shaw|Bashir Haddad|Owen Pritchard|José Ramírez|Lars Nygård
    |Zoltán Kiss|Siân Howell|Desmond Achebe|Quentin Frey|Ravi Menon|Thaddeus Crane|Xiomara Peña""")
SERVICES = _items("""AC repair|Boiler repair|Drain cleaning|Water heater installation
    |Furnace tune-up|Leak detection|AC installation|Toilet repair|Sewer line repair|Panel upgrade
    |Thermostat installation|Duct cleaning|Faucet replacement|Sump pump service|Gas line service
    |Heat pump installation|Bathroom remodel|Pipe repair|Lighting installation|EV charger
    |Water softener|Backflow testing|Generator service|Well pump repair|Radiant floor heating""")
PROBLEMS = _items("""No heat|No hot water|Leak|Clogged drain|Noise|Billing error|Late arrival
    |Repeat failure|Bad smell|Power loss""")
AREAS = _items("""Portsmouth|Dover|Rochester|Exeter|Hampton|Kittery|York|Durham|Newmarket|Rye
    |Stratham|Greenland""")
TOPICS = _items(
    "Heating|Cooling|Plumbing|Electrical|Emergencies|Maintenance plans|Remodeling|Sewer"
)
REPLY_OPENINGS = _items("""Thank you, %s!|Hi %s, thanks for the kind words.|Dear %s,|Hello %s,
    |Thanks so much, %s.|%s, we appreciate your business.|Hi %s,|Many thanks, %s!""")
REPLY_BODIES = _items("""We are glad the team could help.|It was a pleasure to work in your home.
    |Your feedback means a lot to a small business.|We will pass this on to the technician.
    |Please call the office so that we can make this right.|We are sorry to hear about the delay.
    |The warranty covers this and we will be in touch.|Honest work at a fair price is our goal.
    |Comfort all year round is what we aim for.|We hope to see you at the next tune-up.
    |That is not the standard we hold ourselves to.|Reviews like yours make our day.""")
REPLY_ENDINGS = _items("""|— The Acme team|Call us any time.|Warm regards, Ann|Acme Comfort
    |Stay warm!|See you next season.|Best, the office""")


@dataclass(frozen=True, slots=True)
class Weighted(Generic[_T]):
    """Values to draw from, some more likely than others."""

    values: Sequence[_T]
    cumulative: list[float]

    @classmethod
    def of(cls, values: Sequence[_T], weights: Sequence[float]) -> "Weighted[_T]":
        return cls(values, list(itertools.accumulate(weights)))

    def one(self, rng: random.Random) -> _T:
        total = self.cumulative[-1]
        return self.values[bisect(self.cumulative, rng.random() * total, 0, len(self.values) - 1)]

    def many(self, rng: random.Random, count: int) -> list[_T]:
        return rng.choices(self.values, cum_weights=self.cumulative, k=count)


def pick(rng: random.Random, values: Sequence[_T]) -> _T:
    """One of the values; four times as fast as ``choice``, which is felt at a million reviews."""
    return values[int(rng.random() * len(values))]


@functools.cache
def content_words() -> Weighted[str]:
    """The hand-written words, then made-up ones, by Zipf's law with a steeper tail.

    The tail is what natural text has beyond its first few thousand words: without it every one of
    40,000 words would be frequent in a million reviews, and no needle rare.
    """
    rng = random.Random(_SEED)
    words = dict.fromkeys(_COMMON)
    while len(words) < _SIZE:
        syllables = 1 + (rng.random() < 0.75) + (len(words) > _KNEE and rng.random() < 0.5)
        word = "".join(
            pick(rng, _ONSETS) + pick(rng, _NUCLEI) + pick(rng, _CODAS) for _ in range(syllables)
        ) + pick(rng, _ENDINGS)
        words[word.capitalize() if rng.random() < 0.03 else word] = None
    head = [1 / (rank + 12) for rank in range(_KNEE)]
    tail = [head[-1] * (_KNEE / rank) ** 2.2 for rank in range(_KNEE, len(words))]
    return Weighted.of(list(words), head + tail)


@functools.cache
def glue_words() -> Weighted[str]:
    return Weighted.of(_GLUE, [1 / (rank + 3) for rank in range(len(_GLUE))])
