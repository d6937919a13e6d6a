"""Names of columns that are taken for members of a review, as ``values.normal`` has them.

English, German, French, Spanish, Italian, Portuguese and Dutch, the likeliest first. What is said to be
of the review or its author comes first: of a place it may be the average and the name.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from reviewsctl.importing.values import phrase_set, phrases

GUESSES: Final[Mapping[str, Sequence[str]]] = {
    "rating": phrases(
        "review rating, review score, review rating rating value, scoring review score, rating, stars",
        "star rating, score, rating value, overall rating, overall score, overall, sterne, bewertung",
        "sternebewertung, gesamtbewertung, punkte, schulnote, gesamtnote, note, etoiles, evaluation",
        "nombre d etoiles, calificacion, puntuacion, valoracion, estrellas, valutazione, stelle",
        "punteggio, voto, avaliacao, estrelas, pontuacao, nota, beoordeling, sterren, cijfer",
        "waardering, grade",
    ),
    "best": phrases(
        "best rating, review rating best rating, rating best rating, max rating, maximum rating",
        "rating max, max, maximum, best, rating scale, rating range, rating out of, max score, score max, out of, scale",
    ),
    "worst": phrases(
        "worst rating, review rating worst rating, rating worst rating, min rating, rating min",
    ),
    "date": phrases(
        "review date, review datetime utc, review timestamp, date, created, created at, published",
        "published at, date published, posted, posted at, posted on, submitted, submitted at",
        "date created, date add, date added, added, added at, creation date, date posted, date submitted",
        "created on, submitted on, review created, eingegangen am, erfasst am, review creation date, submission time, submission date, time, timestamp",
        "datetime, comment date, datum, bewertungsdatum, erstellt, erstellt am, veroffentlicht",
        "veroffentlicht am, date de l avis, publie le, cree le, date de publication, fecha",
        "fecha de publicacion, fecha de la resena, data, data della recensione, pubblicato il",
        "data da avaliacao, publicado em, geplaatst op, datum beoordeling",
    ),
    "author": phrases(
        "display name, author display name, reviewer display name, user display name",
        "customer display name, consumer display name, public name, author, author name, author title",
        "reviewer, reviewer name, nickname, full name, customer name, comment author, name, customer, user",
        "username, user name, user nickname, guest name, guest, member name, member, person, diner",
        "diner name, patient, patient name, traveler, traveller, traveler name, buyer, buyer name",
        "client name, visitor, attendee, from, autor, verfasser, kunde, kundenname, gast, gastname",
        "mitglied, kaufer, rezensent, bewerter, auteur, nom, client, nom du client, voyageur, membre",
        "acheteur, nombre, cliente, nombre del cliente, usuario, huesped, comensal, miembro",
        "comprador, autore, nome, nome cliente, ospite, utente, recensore, nome do cliente, hospede",
        "avaliador, naam, klant, klantnaam, first name, given name, vorname, prenom, voornaam",
    ),
    "text": phrases(
        "review text, review content, review body, text, review, comment, comments, body, content",
        "message, feedback, public review, review comment, review message, comment content",
        "testimonial, kommentar, bewertungstext, rezension, nachricht, avis, commentaire, texte",
        "contenu, temoignage, resena, comentario, comentarios, texto, opinion, mensaje, recensione",
        "commento, testo, messaggio, opinione, comentario da avaliacao, mensagem, opiniao",
        "beoordelingstekst, opmerking, tekst, bericht, reactie klant",
    ),
    "title": phrases(
        "review title, title, headline, subject, titel, uberschrift, betreff, titre, titulo, asunto",
        "titolo, oggetto, assunto, onderwerp",
    ),
    "reply": phrases(
        "reply, response, owner answer, owner reply, owner response, reply text, response text",
        "reply content, response content, property reply, property response, business response",
        "company reply, company response, management response, host reply, merchant reply, our reply",
        "our response, replies content, replies text, responses content, responses text",
        "responses body, client responses response, antwort, antwort des inhabers, unsere antwort",
        "reponse, reponse du proprietaire, respuesta, respuesta del propietario, risposta",
        "risposta del proprietario, resposta, resposta do proprietario, antwoord, reactie",
    ),
    "reply_date": phrases(
        "reply date, response date, owner answer date, owner reply date, reply created at",
        "response created at, owner answer timestamp datetime utc, owner answer timestamp",
        "replied at, responded at, property reply date, client responses date, responses created at",
        "antwortdatum, antwort vom, beantwortet am, date de la reponse, fecha de la respuesta",
        "data risposta, data da resposta, antwoorddatum",
    ),
    "verified": phrases(
        "verified, is verified, review verified, verified buyer, is verified buyer",
        "verified purchase, reviewer type, verifiziert, verifizierter kauf, verifie, achat verifie",
        "verificado, compra verificada, verificato, acquisto verificato, geverifieerd",
    ),
    "url": phrases("url, link, review url, review link, source url, permalink, lien, enlace"),
    "avatar": phrases("avatar, avatar url, photo, author avatar url, author image"),
    "source": phrases(
        "source, platform, site, site name, channel, quelle, plattform, plateforme, fuente",
        "plataforma, fonte, piattaforma, bron",
    ),
    "status": (),
    "id": phrases("id, review id, uid, uuid, comment id"),
}
"""Our names, and those of columns. Nothing is taken for a status: ``publicity`` knows them all."""

FIRST_NAMES: Final = phrases(
    "first name, firstname, given name, forename, author first name, customer first name",
    "reviewer first name, guest first name, user first name, billing first name, vorname, prenom",
    "primer nombre, nombre, nome, voornaam, name",
)
LAST_NAMES: Final = phrases(
    "last name, lastname, surname, family name, author last name, customer last name",
    "reviewer last name, guest last name, user last name, billing last name, nachname, familienname",
    "nom de famille, nom, apellidos, apellido, cognome, sobrenome, apelido, achternaam",
)
WHOLE_NAMES: Final = frozenset(GUESSES["author"][: GUESSES["author"].index("name")])
"""Columns that have the whole public name, whatever others there are."""

LIKED: Final = phrase_set(
    "positive review, positive, positives, positive comment, positive comments, liked, liked text",
    "pros, pro, content positive, what did you like, what you liked, what was good, strengths",
    "advantages, positiv, positives feedback, vorteile, gefallen, das hat gefallen",
    "was hat gefallen, was hat ihnen gefallen, points positifs, points forts, positif, avantages",
    "positivo, lo positivo, puntos positivos, ventajas, lo mejor, pregi, vantaggi, punti di forza",
    "aspetti positivi, pontos positivos, vantagens, pontos fortes, positief, pluspunten, voordelen",
)
DISLIKED: Final = phrase_set(
    "negative review, negative, negatives, negative comment, negative comments, disliked",
    "disliked text, cons, contra, content negative, what did you dislike, what you disliked",
    "what did you not like, what could be better, what was bad, weaknesses, disadvantages",
    "improvements, what can be improved, negativ, negatives feedback, nachteile, nicht gefallen",
    "das hat nicht gefallen, was hat nicht gefallen, was hat ihnen nicht gefallen, kritik",
    "points negatifs, points faibles, negatif, inconvenients, negativo, lo negativo",
    "puntos negativos, desventajas, contras, lo peor, difetti, svantaggi, punti deboli",
    "aspetti negativi, pontos negativos, desvantagens, pontos fracos, negatief, minpunten, nadelen",
)
"""Columns that are the two halves of a review's text."""

PRIVATE: Final = phrases(
    "private, intern, privat, prive, privad, confiden, vertraul, translat, ubersetz, traduct",
    "traducc, traduz, traduc, vertal",
)
"""Beginnings of words in the names of columns that are never offered as the text."""

TEXT_WORDS: Final = phrase_set(
    "review, comment, comments, feedback, text, testimonial, bewertung, avis, resena"
)
NO_TEXTS: Final = phrase_set(
    "note, notes, product, address, place, category, tags, url, link, hotel, room, trip",
    "title, summary, keywords, topics, description, location, business, company, store, shop",
    "subject, user, agent, image, photo, picture, pictures, variant, item, order, email",
    "reason, produkt, produit, producto, prodotto, adresse, direccion, indirizzo",
)
"""Words of columns with texts that are no question, unless the name has a text word too."""
