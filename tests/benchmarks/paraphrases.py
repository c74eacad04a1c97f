"""Statements, and questions about them in other words. Search by meaning must match them."""

from __future__ import annotations

from typing import NamedTuple


class Pair(NamedTuple):
    """A statement and a question about it. `languages` are those of both, as ISO 639-1 codes."""

    languages: str
    said: str
    asked: str


PAIRS = [
    # In one language, with hardly a word in common.
    Pair("de de", "Meine Schwester zieht im Herbst nach Lissabon.", "Wohin geht das Geschwisterkind umsiedeln?"),
    Pair("de de", "Ich vertrage keine Milch.", "Welche Lebensmittel muss ich meiden?"),
    Pair("de de", "Der Wagen ist schon wieder in der Werkstatt.", "Was ist mit meinem Auto los?"),
    Pair("de de", "Am liebsten stehe ich vor Sonnenaufgang auf.", "Bin ich ein Frühaufsteher?"),
    Pair("de de", "Wir haben den Vertrag mit dem Vermieter gekündigt.", "Wie steht es um die Mietwohnung?"),
    Pair("de de", "Der Arzt meint, das Knie brauche sechs Wochen Ruhe.", "Wann darf ich wieder Sport treiben?"),
    Pair("de de", "Opa hat seinen neunzigsten Geburtstag gefeiert.", "Wie alt ist mein Großvater geworden?"),
    Pair("fr fr", "Je ne mange plus de viande depuis janvier.", "Suis-je végétarien ?"),
    Pair("fr fr", "Notre chat s'appelle Moustache.", "Comment se nomme l'animal de la maison ?"),
    Pair("fr fr", "J'ai raté le dernier train pour Lyon.", "Pourquoi suis-je arrivé en retard ce soir-là ?"),
    Pair("fr fr", "Mon patron m'a proposé une augmentation.", "Vais-je mieux gagner ma vie ?"),
    Pair("fr fr", "Le toit fuit quand il pleut fort.", "Quelles réparations faut-il faire à la maison ?"),
    Pair("fr fr", "Les petits commencent la maternelle lundi.", "Quand est la rentrée des enfants ?"),
    Pair("fr fr", "Je cours dix kilomètres chaque dimanche.", "Quelle est ma routine sportive ?"),
    Pair("es es", "Mi hija toca el violín en la orquesta del colegio.", "¿Qué instrumento estudia la niña?"),
    Pair("es es", "He dejado de fumar hace tres meses.", "¿Sigo con el tabaco?"),
    Pair("es es", "Nos casamos en una playa de Cádiz.", "¿Dónde fue la boda?"),
    Pair("es es", "El ordenador se apaga solo cuando se calienta.", "¿Qué avería tiene el portátil?"),
    Pair("es es", "Prefiero viajar sin maletas grandes.", "¿Cómo me gusta ir de vacaciones?"),
    Pair("es es", "Mi padre nació en un pueblo de montaña.", "¿De dónde viene mi familia?"),
    Pair("es es", "Han cancelado el vuelo por la niebla.", "¿Por qué no despegó el avión?"),
    Pair("en en", "I am allergic to peanuts.", "Which snacks could make me ill?"),
    Pair("en en", "The landlord raised our rent by ten percent.", "How much dearer did the flat get?"),
    Pair("en en", "My thesis defence is on the ninth of May.", "When is the oral exam for my degree?"),
    Pair("en en", "We adopted a puppy from the shelter.", "Where did our dog come from?"),
    Pair("en en", "I quit my job to start a bakery.", "What career change did I make?"),
    Pair("en en", "Grandma's hearing aid needs new batteries.", "What should I buy for the old lady?"),
    # Across languages.
    Pair("de en", "Ich habe Höhenangst.", "What frightens me?"),
    Pair("de en", "Das Passwort für das Gäste-WLAN klebt am Kühlschrank.", "How do visitors get online?"),
    Pair("de fr", "Der Zahnarzttermin wurde auf Donnerstag verschoben.", "Quand vais-je chez le dentiste ?"),
    Pair("de es", "Mein Bruder arbeitet als Koch in einem Hotel.", "¿A qué se dedica mi hermano?"),
    Pair("en de", "The roof garden is closed during winter.", "Wann kann man oben draußen sitzen?"),
    Pair("en de", "My favourite colour is dark green.", "Welche Farbe mag ich am liebsten?"),
    Pair("en fr", "She speaks four languages fluently.", "Combien de langues parle-t-elle ?"),
    Pair("en es", "Our anniversary is on the third of June.", "¿Qué día celebramos el aniversario?"),
    Pair("fr de", "J'ai peur des araignées.", "Vor welchen Tieren fürchte ich mich?"),
    Pair("fr en", "Ma voiture consomme trop d'essence.", "Is my car economical?"),
    Pair("fr es", "La clé de la cave est sous le pot de fleurs.", "¿Dónde está la llave del sótano?"),
    Pair("es de", "Me encanta cocinar arroz los domingos.", "Was koche ich gern am Wochenende?"),
    Pair("es en", "Perdí la cartera en el metro.", "Where did I lose my money and cards?"),
    Pair("es fr", "Mi contraseña caduca cada noventa días.", "À quelle fréquence dois-je changer de mot de passe ?"),
    Pair("es en", "El médico me recetó gotas para los ojos.", "What medicine was I prescribed?"),
]

BESIDE = [
    "Das Wetter soll am Wochenende schön werden.",
    "Kannst du mir eine Einkaufsliste schreiben?",
    "Le film d'hier soir était trop long.",
    "Peux-tu traduire cette lettre ?",
    "¿Me ayudas con una carta al banco?",
    "El café de la esquina cierra temprano.",
    "Remind me to water the plants tomorrow.",
    "The meeting was moved to the small room.",
    "Schreib mir ein Gedicht über den Regen.",
    "Il faut acheter du pain et des œufs.",
    "La reunión terminó sin acuerdo.",
    "That song has been in my head all day.",
]
"""Other statements that nobody asks about."""
