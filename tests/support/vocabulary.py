"""Words and labels of generated reviews; ``generate`` adds a long tail of made-up words."""


def _items(block: str) -> list[str]:
    """Return the parts of a hand-written block, divided by bars."""
    return [" ".join(item.split()) for item in block.split("|")]


def _words(block: str) -> list[str]:
    """Return the parts of a hand-written block, divided by blanks."""
    return block.split()


# Every second word of a sentence, the most frequent first.
FUNCTION_WORDS = _words("""
the and to a was I in of they for it my with he on is that we our very this had were so have me at
not as but from you be all out would them his she up an who when are by will did been if just which
again there no after your their before about also because more only what us over than her even how
got back every could then both while can since do never always one two until has or any really off
didn't wasn't it's couldn't I'm won't don't I've we've they're
""")

# The most frequent of the other words.
COMMON_WORDS = _words("""
great service work time job house team home company price day professional good recommend
technician staff people call unit new called problem water system heat office friendly quick
experience issue way well first best help next fixed highly thing boiler furnace years week
excellent honest fair phone quote customer clean hours money repair installed everything morning
kitchen bathroom heater replaced appointment same right came told done needed made said used took
arrived fast old leak pipe drain toilet tank pump valve thermostat noise cold hot floor basement
estimate invoice warranty parts labor fee cheap expensive reasonable late early soon weekend Monday
emergency neighbor family wife plumber amazing awesome polite courteous helpful knowledgeable
careful reliable messy dirty rude lazy terrible awful poor disappointed happy pleased satisfied
2 3 5 10 24 100% $89 $1,200 7am 8:30 4pm HVAC AC A/C 50-gallon café naïve façade Zürich
""")

# By aspect: two phrases of praise, then one of complaint.
_PHRASES = {
    "punctuality": "arrived right on time | always punctual | showed up two hours late",
    "pricing": "the price was fair | no hidden fees | charged more than the estimate",
    "technical_knowledge": "really knew the system | clearly well trained | replaced the wrong part",
    "communication": "kept us informed all day | explained each step | never called back",
    "cleanliness": "left no mess | cleaned up after the work | dust on everything",
    "courtesy": "friendly and polite | treated us like family | rude on the phone",
    "workmanship": "quality work | the job was done right | leaking again a week later",
    "speed": "finished ahead of schedule | done within the hour | took forever",
    "scheduling": "easy to book | flexible with the date | no appointments for weeks",
    "honesty": "honest and upfront | told me I needed no repair | tried to upsell",
    "aftercare": "stood behind the warranty | kept every promise | ignored us after payment",
    "emergency_response": "came out at midnight | a lifesaver | left us without heat",
}
ASPECTS = list(_PHRASES)
PRAISE = [(aspect, item) for aspect in ASPECTS for item in _items(_PHRASES[aspect])[:2]]
COMPLAINTS = [(aspect, _items(_PHRASES[aspect])[2]) for aspect in ASPECTS]

NAMED = _items(
    "%s came out and | ask for %s | %s was great | thanks to %s | we had %s | %s fixed it"
)
SERVICED = _items("for a %s | called about %s | had a %s done | our %s went well | quote for %s")

# Sentences of other languages; the casefolded text of some has another length.
FOREIGN = _items("""Muy buen servicio y el técnico llegó a tiempo con la pieza de calefacción
    |Très bon travail, équipe sérieuse et prix correct, déjà la deuxième façon de réparer la chaudière
    |Sehr gute Arbeit, die Heizung läuft und die Straße war größer gesperrt als für das Büro nötig
    |İyi hizmet, usta ISINMA için geldi, çok güzel oldu ve fiyat uygun
    |Очень хороший мастер, быстро приехал и починил котёл
    |とても丁寧な対応で、修理も早い、ありがとうございました""")
EMOJI = _items("👍|😊|🙏|⭐⭐⭐⭐⭐|❤️|😡|👏🏽|🔧|🔥|👨‍🔧|😂|💯|🇺🇸|:)")

FIRST_NAMES = _items("""James|Mary|Robert|Linda|John|Barbara|David|Susan|Karen|Nancy|Priya|Wei|Yuki
    |Fatima|Omar|Sofía|Renée|Björn|Łukasz|Siobhán|Zoë|Anaïs|Nguyễn|Ольга|Ahmed|Grace""")
LAST_NAMES = _items(
    "Smith|Johnson|Brown|Garcia|Miller|Lee|O'Brien|Müller|Kowalski|D.|K.|M.|R.|S.|T."
)
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
PROBLEMS = _items(
    "No heat|No hot water|Leak|Clogged drain|Noise|Billing error|Late arrival|Bad smell"
)
AREAS = _items("Portsmouth|Dover|Rochester|Exeter|Hampton|Kittery|York|Durham|Newmarket|Rye")
TOPICS = _items(
    "Heating|Cooling|Plumbing|Electrical|Emergencies|Maintenance plans|Remodeling|Sewer"
)
REPLIES = _items("""Thank you, %s! It was a pleasure to work in your home. Call us any time.
    |Hi %s, thanks for the kind words. We hope to see you at the next tune-up. Warm regards, Ann
    |Dear %s, please call the office so that we can make this right. — The Acme team
    |%s, we are sorry to hear about the delay; the warranty covers this.""")
