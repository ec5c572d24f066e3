"""What a statement tells: a state, of which there is one at a time, or what happened, which may happen again."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby, pairwise

from memgraph_engine.language.terms import CLAUSES, sentence_spans, spoken, word_list, word_values
from memgraph_engine.language.wording import lists_of, phrases_in

_ENDING = 8  # letters of the longest ending that a language may list
_NEAR = 200  # characters of a sentence on either side that are looked at
_LEADS = ("determiners", "indefinite", "detail-words")
_BARE = ("do", "have")  # behind another verb they show no tense
_ALIKE = ("third", "participle")  # nor do these, nor behind another word than a pronoun
_AUXILIARIES = {"auxiliary": frozenset({"past", "participle"}), "copula": frozenset({"past"})}
_VERBS = {"past", "third", "participle", "present", "verb", *_AUXILIARIES}
_CHANGES = ("changes", "change-adverbs", "endings", "denials", "corrections")


def happened(new: str, old: str, language: str) -> bool:
    """Tell whether each of two texts, said on different days, tells what happened by then: both may be true.

    "The taxi cost 30 euros" is past whatever the next one costs; "the rent is 840 euros" holds until it is another.
    The tense of the clause tells it in which each text shares most with the other, or of all where none does. A text
    that also tells how many there are tells of a state ("The fox came, we're at 9 hens"), and so does a new text that
    has a word of change ("They moved it to Tuesday"), unless it only says that something happened again.

    >>> happened("I ran 8 km again.", "I ran 5 km.", "english"), happened("I run 8 km.", "I run 5 km.", "english")
    (True, False)
    >>> happened("El taxi costó 42 euros.", "El taxi costó 30 euros.", "spanish")
    True
    """
    one, other = spoken(new), spoken(old)
    return not phrases_in(one, _changes(language)) and all(
        _happened(text, frozenset(words), language) for text, words in ((new, other), (old, one))
    )


@cache
def _changes(language: str) -> frozenset[str]:
    """Return the phrases with which a state is another than before."""
    return word_list(language, *_CHANGES) - word_list(language, "anew")


@cache
def _leads(language: str) -> frozenset[str]:
    """Return the words behind which stands a noun, or what describes one: "a used car"; "l'" may be a pronoun."""
    return word_list(language, *_LEADS) - word_list(language, "elisions")


def _happened(text: str, others: frozenset[str], language: str) -> bool:
    """Tell whether a text tells what happened, in the clause that shares most with other words."""
    clauses, wanted = _clauses(text, language), others - lists_of(language).closed
    if any(_counts(clause, language) for clause in clauses):
        return False
    nearest = max(clauses, key=lambda clause: len(wanted.intersection(clause)), default=())
    told = [nearest] if wanted.intersection(nearest) else clauses
    return bool(told) and all(past(clause, language) for clause in told)


def _clauses(text: str, language: str) -> list[Sequence[str]]:
    """Return the words of each clause, which also ends before a word like "and"."""
    joints = word_list(language, "clause-words")
    words = (word for part in CLAUSES.split(text) for word in ("", *spoken(part)))
    return [list(some) for joint, some in groupby(words, key=lambda word: not word or word in joints) if not joint]


def told_past(text: str, at: int, language: str) -> bool | None:
    """Tell whether the verb nearest before a place, or else behind it, is in the past: of its clause, or its sentence.

    None where only the sentence shows it, which holds the clause ("he said that he comes on Friday"), and in a language
    whose tenses are not listed.

    >>> told_past("On Tuesday, I met Bo.", 0, "english"), told_past("I met Bo, I'll go on Tuesday.", 16, "english")
    (True, False)
    """
    if not word_values(language, "tenses"):
        return None
    text, at = text[max(at - _NEAR, 0) : at + _NEAR], min(at, _NEAR)
    begin, end = next((span for span in sentence_spans(text, language) if span[1] > at), (0, len(text)))
    sentence = text[begin:end]
    clauses = _clauses(sentence, language) or [()]
    until = _clauses(f"{text[begin:at]}{sentence[at - begin :].split(maxsplit=1)[0]}", language) or [""]
    joints = word_list(language, "clause-words") - word_list(language, "coordinators")
    first, ahead, said = len(until) - 1, len(until[-1]) - 1, spoken(text[begin:at])
    held = 0 < ahead < len(said) and said[-ahead - 1] in joints
    own, *others = [_shown(clause, language, held=held) for clause in (*clauses[first:], *clauses[:first])]
    near = [past for place, past in own if place < ahead][-1:] or [past for _, past in own]
    past = next((past for clause in others for _, past in clause), False)
    return near[0] if near else None if past and held else past


def _shown(clause: Sequence[str], language: str, *, held: bool) -> list[tuple[int, bool]]:
    """Return where the verbs stand whose tense shows, and whether it is the past.

    "I quit" and "she called" are past, though their verbs have such forms too; not "I'll quit", nor `held` by "if".
    """
    leads, persons, tenses = _leads(language), word_list(language, "persons"), _tenses(clause, language)
    pairs = zip(tenses, pairwise(("", *clause)), strict=True)
    told = [("" if before in leads else tense, before, word) for tense, (before, word) in pairs]
    shown, bare = {"past", "present"}, {at for at, (_, _, word) in enumerate(told) if word in _BARE}
    alike = {at for at, (one, before, _) in enumerate(told) if one in _ALIKE and before in persons and not held}
    verbs = [at for at, (one, _, _) in enumerate(told) if one in shown or at in alike]
    return [(at, told[at][0] != "present") for at in verbs if at == verbs[0] or at not in bare | alike]


def _counts(words: Sequence[str], language: str) -> bool:
    """Tell whether a clause tells how many there are now."""
    amounts = (word[0].isdigit() or word in word_values(language, "numbers") for word in words)
    return any(amounts) and bool(phrases_in(words, _present(language)))


def past(words: Sequence[str], language: str) -> bool:
    """Tell whether the first verb of a clause whose tense shows is in the past, and no word tells what is.

    >>> past(["i", "paid", "40", "euros"], "english"), past(["the", "shoes", "are", "painted"], "english")
    (True, False)
    """
    if phrases_in(words, _present(language)):
        return False
    persons = word_list(language, "persons")
    speaking, named = word_list(language, "first-person", "second-person"), False
    for tense, (before, word) in zip(_tenses(words, language), pairwise(("", *words)), strict=True):
        if tense == "present":
            return False
        third, participle = before not in speaking, before in persons
        told = tense == "past" or (tense == "third" and third) or (tense == "participle" and participle)
        if told and before not in _leads(language) and not before[:1].isdigit():
            return True
        if named and tense != "adverb" and word not in lists_of(language).closed:
            return False  # "I like boiled eggs"
        named = named or word in persons
    return False


def told_before(question: str, language: str) -> bool:
    """Tell whether a question asks what who is asked has done or said: an assistant.

    >>> [told_before(f"Which dish {one}?", "english") for one in ("did you suggest", "do you know", "did I like")]
    [True, False, False]
    """
    asked, you = spoken(question), word_list(language, "second-person")
    told = pairwise(zip(asked, _tenses(asked, language), strict=True))
    return any(one in you and tense == "past" for pair in told for (one, _), (_, tense) in (pair, pair[::-1]))


def present(word: str, language: str) -> bool:
    """Tell whether a word is a form of the present that tells what somebody or something is, has or does.

    >>> present("is", "english"), present("tiene", "spanish"), present("number", "english")
    (True, True, False)
    """
    return _tense(word, word_values(language, "tenses")) in ("present", *_AUXILIARIES)


def is_verb(word: str, language: str) -> bool:
    """Tell whether a word is a form of a verb whose tense shows.

    >>> [is_verb(word, "english") for word in ("is", "moved", "lives", "need")]
    [True, True, False, False]
    """
    return _tense(word, word_values(language, "tenses")) in _VERBS


def _tenses(words: Sequence[str], language: str) -> list[str]:
    """Return the tense of each word of a clause; an auxiliary has that of what stands behind it, else the present."""
    listed = word_values(language, "tenses")
    told = [_tense(word, listed) for word in words]
    for at in [at for at, one in enumerate(told) if one in _AUXILIARIES]:
        told[at] = "present" if _AUXILIARIES[told[at]].isdisjoint(told[at + 1 :]) else "past"
    return told


def _tense(word: str, tenses: Mapping[str, str]) -> str:
    """Return what is listed for a word, or for the longest of its endings.

    past        a form of the past, and of nothing else: "ran", "-ed"
    third       the past, but where the one who speaks or is spoken to is its subject: "it cost", not "I cut"
    participle  the past right behind a pronoun alone: "I called", not "a shop called"
    present     with it the clause tells what is: "is", "have", "so far"
    auxiliary   the past before a word of the past or a participle, else the present: French "ai"
    copula      the past before a word of the past, else the present: "est allé", not "est fermé"
    verb        the past or the present: Spanish "cambiamos"
    adverb      it may stand before a verb
    no          none of these, though its ending looks so: "need"
    """
    endings = (f"-{word[at:]}" for at in range(max(len(word) - _ENDING, 0), len(word)))
    return next((tenses[one] for one in (word, *endings) if one in tenses), "")


@cache
def _present(language: str) -> frozenset[str]:
    return frozenset(phrase for phrase, tense in word_values(language, "tenses").items() if tense == "present")
