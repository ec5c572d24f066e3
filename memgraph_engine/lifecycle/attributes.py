"""What a message tells about who says it, found without a model: the name, the residence, the job, the diet and so on.

Only a plain statement in the first person counts: a sentence, or a clause of one, that begins with a listed phrase and
tells nothing behind the value that could take it back. One that denies what such a phrase says ("I'm not allergic to
nuts after all") ends the value. What is missed costs little. What is wrong would stand in every prompt.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from memgraph_engine.language import APOSTROPHES, LISTED, places, sentences, word_list, word_values
from memgraph_engine.model.marker import without_recalled
from memgraph_engine.model.profile import LONGEST_VALUE, Delta

_LONGEST = 600  # characters of a message that is still told, and not pasted
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_QUOTED = re.compile(r"[\"“”«»„`*>{}\[\]]|(?<![\w'])'|(?<=\D):|:(?=\D)")
_ORDINAL = re.compile(r"\d{1,2}(?:st|nd|rd|th)?")
_YEAR = re.compile(r"(?:18|19|20)\d\d")
_CAPITALS = 4  # words of a name or a place
_INTRODUCED = 2  # words of a name behind "I'm"
_ACTIVITY = 3  # words of a hobby
_WORK = 4  # words of a job, with the article
_DENIED = 4  # words of a clause among which what denies it begins
_ACRONYM = re.compile(r"[A-Z]{2,4}")
_TITLES = frozenset(("dr", "mr", "mrs", "ms", "st", "sr", "sra"))


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a sentence: as it is written, in small letters, and what stands before it."""

    written: str
    plain: str
    gap: str
    start: int
    end: int


def attributes(text: str, language: str) -> list[Delta]:
    """Return what a message tells about who says it, in order.

    >>> told = attributes("Hi! I live in Lisbon now and I'm allergic to nuts. Do I live in Faro?", "english")
    >>> [(one.name, one.value) for one in told]
    [('residence', 'Lisbon'), ('allergy', 'nuts')]
    >>> attributes("My friend lives in Porto. If I lived in Rome, I'd walk. Do I live in Faro?", "english")
    []
    >>> attributes("I don't live in Faro any more.", "english")
    [Delta(name='residence', value='Faro', ends=True)]
    """
    if language not in LISTED:
        return []
    lists = _lists(language)
    said = without_recalled(text).translate(APOSTROPHES)
    plain = [word.plain for word in _words(said, lists)]
    if not plain or len(said) > _LONGEST or _holds(plain, word_list(language, "made-up")):
        return []
    found: dict[tuple[str, str, bool], Delta] = {}
    opens = True
    for sentence in _sentences(said, lists):
        words = _words(sentence, lists)
        for delta in _told(words, sentence, lists, opens=opens):
            found[delta.name, delta.value.casefold(), delta.ends] = delta
        opens = opens and _begin(words, lists) >= len(words)
    return list(found.values())


def _holds(words: Sequence[str], phrases: frozenset[str]) -> bool:
    """Tell whether words hold one of some phrases."""
    return not phrases.isdisjoint(words) or any(places(words, one) for one in phrases if "_" in one or "~" in one)


def _sentences(said: str, lists: "_Lists") -> Iterator[str]:
    """Yield the sentences that state something in the speaker's own words: nothing behind a colon, nothing quoted."""
    for sentence in sentences(said, lists.language):
        if quoted := _QUOTED.search(sentence):
            if not quoted.start():
                return
            sentence = sentence[: quoted.start()]
            if ":" not in quoted[0]:
                return
            yield sentence
            return
        if not sentence.rstrip(" )").endswith("?") and "?" not in sentence:
            yield sentence


def _words(sentence: str, lists: "_Lists") -> list[_Word]:
    """Cut a sentence into words, contractions taken apart: "I'm" is two, and stands where it stood."""
    found: list[_Word] = []
    end = 0
    for match in _WORD.finditer(sentence):
        word, gap = match[0], sentence[end : match.start()]
        end = match.end()
        for part in lists.spellings.get(word.casefold(), word).split("_"):
            found.append(_Word(word, part.casefold(), gap, match.start(), end))
            gap = ""
    return found


def _told(words: Sequence[_Word], sentence: str, lists: "_Lists", *, opens: bool) -> Iterator[Delta]:
    """Yield what a sentence tells; the one that `opens` a message may introduce who says it."""
    plain = [word.plain for word in words]
    if not words or _holds(plain, word_list(lists.language, "suppositions")):
        return
    first = _begin(words, lists)
    own = False
    before: list[str] = []  # the words so far, without the phrases that told something: "I stopped eating", "I don't"
    end = first
    for at in range(first, len(words)):
        if at > first and not (own and _clause_begins(words, at, lists)):
            continue
        before += plain[end:at]
        end = at
        changes, length = _statement(words, at, sentence, lists, opens=opens and at == first)
        told = length > 0 and lists.doubts.isdisjoint(before)
        if at == first:
            own = plain[at] in lists.first_person or told
        if told:
            yield from changes
            end = at + length


def _text(words: Sequence[_Word], sentence: str) -> str:
    """Return words as they stand in their sentence."""
    return sentence[words[0].start : words[-1].end]


def _begin(words: Sequence[_Word], lists: "_Lists") -> int:
    """Return where a sentence begins without "hi", "well" and who is greeted with a name behind it."""
    at = 0
    while at < len(words) and (length := _idle(words, at, lists)):
        denies = words[at].plain in lists.doubts  # "No vivo" is none, "No, vivo" is one
        if denies and not (at + 1 < len(words) and _ends(words[at + 1].gap)):
            break
        at += length
    greeted = at and at + 1 < len(words) and words[at].written[0].isupper() and _ends(words[at + 1].gap)
    return at + 1 if greeted and words[at].plain not in lists.first_person else at


def _idle(words: Sequence[_Word], at: int, lists: "_Lists") -> int:
    """Return how many words of a phrase that tells nothing ("by the way") begin there, 0 for none."""
    for phrase in lists.idle:
        parts = phrase.split("_")
        if [word.plain for word in words[at : at + len(parts)]] == parts:
            return len(parts)
    return 0


def _clause_begins(words: Sequence[_Word], at: int, lists: "_Lists") -> bool:
    before = words[at - 1].plain
    return bool(_ends(words[at].gap) or (before in lists.joints and at > 1))


def _ends(gap: str) -> bool:
    return any(sign in gap for sign in ",.;!–—()")


def _statement(
    words: Sequence[_Word], at: int, sentence: str, lists: "_Lists", *, opens: bool
) -> tuple[Sequence[Delta], int]:
    """Return what a clause tells that begins with the longest listed phrase, or a denied one, and that one's words."""
    clause = words[at:]
    some = [(clause, "")]
    if denied := _undenied(clause, lists):
        some.append(denied)
    for said, denial in some:
        for length in range(min(lists.longest, len(said)), 0, -1):
            phrase = "_".join(word.plain for word in said[:length])
            if phrase not in lists.phrases or any(word.gap.strip() for word in said[1:length]):
                continue
            kinds, _, value = lists.phrases[phrase].partition(":")
            for kind in kinds.split("+"):
                if (kind == "introduction" and not opens) or (denial and kind.startswith("-")):
                    continue
                if found := _valued(kind, value, said[length:], sentence, lists, denial):
                    return found, length + len(clause) - len(said)
    return (), 0


def _undenied(clause: Sequence[_Word], lists: "_Lists") -> tuple[Sequence[_Word], str] | None:
    """Return a clause without the words that deny it, and these: "I live in Faro" and "no_longer"; None for none."""
    for at in range(min(_DENIED, len(clause))):
        if at and clause[at].gap.strip():
            return None
        for denial in lists.denials:
            size = denial.count("_") + 1
            said, rest = clause[at : at + size], clause[at + size :]
            if "_".join(word.plain for word in said) == denial:
                apart = any(word.gap.strip() for word in (*said[1:], *rest[:1]))
                return None if apart else ([*clause[:at], *rest], denial)
    return None


def _valued(
    kind: str, value: str, rest: Sequence[_Word], sentence: str, lists: "_Lists", denial: str
) -> list[Delta] | None:
    """Return what a phrase tells: the value that it has itself, or what stands behind it."""
    over, kind = kind.startswith("-"), kind.removeprefix("-")
    ends = over or denial != ""
    name = _NAMES.get(kind, kind)
    if value or (over and kind not in _ENDED):
        read = [(one.replace("_", " "), 0) for one in value.split("+")]
    else:
        read = _READ[kind](rest, sentence, lists)
    behind = rest[read[-1][1] :] if read else ()
    if not read or (denial and not _wholly(denial, behind, lists)):
        return None
    if not (_closed(behind, lists, denied=denial != "") or _contrasted(kind, behind, sentence, lists)):
        return None
    found = [Delta(name, one[:LONGEST_VALUE], ends) for one, _ in read]
    if name == "employer" and not ends:
        role = _further("job", lists.function["role"], behind, sentence, lists)
        before = [Delta("job", ends=True)] if kind.startswith("new-") or (kind == "started" and role) else []
        return None if kind == "started" and not role else [*before, *found, *role]
    if name != "job":
        return found
    # who has no job any more, or another one, is no more where he was; who only has not that one may be
    if denial:
        left = denial in lists.no_more or _phrase(behind, lists.no_more) > 0
    else:
        left = ends or kind.startswith("new-") or value != ""
    firm = [] if ends else _further("employer", lists.function.get("firm", frozenset()), behind, sentence, lists)
    return [*([Delta("employer", ends=True)] if left else []), *found, *firm]


def _wholly(denial: str, behind: Sequence[_Word], lists: "_Lists") -> bool:
    """Tell whether a value is denied, and not what is said of it: "I'm not a nurse for the money" is one.

    "No longer" and "any more" leave no doubt.
    """
    if denial in lists.no_more or _phrase(behind, lists.no_more):
        return True
    behind = behind[_phrase(behind, lists.tails) :]
    return not behind or behind[0].gap.strip() != "" or behind[0].plain not in lists.limits | lists.function["reason"]


def _phrase(rest: Sequence[_Word], phrases: Collection[str]) -> int:
    """Return how many words a phrase has with which some words begin, in the clause that goes on; 0 for none."""
    for phrase in phrases:
        size = phrase.count("_") + 1
        said = rest[:size]
        if "_".join(word.plain for word in said) == phrase and not any(word.gap.strip() for word in said):
            return size
    return 0


def _further(name: str, leads: Collection[str], rest: Sequence[_Word], sentence: str, lists: "_Lists") -> list[Delta]:
    """Read where somebody has the job that stands before, "at Acme", or as what he works there, "as a nurse"."""
    if not rest or rest[0].gap.strip() or rest[0].plain not in leads:
        return []
    read = (_capitals if name == "employer" else _work)(rest[1:], sentence, lists)
    return [Delta(name, read[0][0][:LONGEST_VALUE])] if read and _closed(rest[1 + read[0][1] :], lists) else []


def _closed(rest: Sequence[_Word], lists: "_Lists", *, denied: bool = False) -> bool:
    """Tell whether a value ends where it ends: with its clause, or before a word that goes on about something else.

    What is denied is not taken back by another denial: "I'm not a nurse any more, I quit".
    """
    rest = rest[_phrase(rest, lists.tails) :]
    if not rest or _ends(rest[0].gap):
        less = lists.doubts - lists.negations if denied else lists.doubts
        return (less | lists.alternatives).isdisjoint(word.plain for word in rest[:2])
    if rest[0].plain in lists.inside:  # "in March" tells when, "in this game" that it is none
        dated = [lists.dates.get(word.plain, "").startswith(("month", "season")) for word in rest[1:2]]
        return any(dated) or (len(rest) > 1 and not rest[1].written[0].islower())
    return not rest[0].gap.strip() and rest[0].plain in lists.after


def _contrasted(kind: str, rest: Sequence[_Word], sentence: str, lists: "_Lists") -> bool:
    """Tell whether another value of the kind is denied behind one: "I live in Braga, not in Lisbon"."""
    if not rest or rest[0].plain not in lists.negations or kind not in _READ:
        return False
    led = 2 if rest[1:2] and rest[1].plain in word_list(lists.language, "detail-words") else 1
    read = _READ[kind](rest[led:], sentence, lists)
    return bool(read) and _closed(rest[led + read[-1][1] :], lists)


def _capitals(rest: Sequence[_Word], sentence: str, lists: "_Lists") -> list[tuple[str, int]]:
    """Read a name or a place: words with capitals, and "de" or "of" between them."""
    end = 0
    for at, word in enumerate(rest[: 2 * _CAPITALS]):
        if at and _ends(word.gap) and not (rest[at - 1].plain in _TITLES and word.gap == ". "):
            break
        if word.written[0].isupper() and word.plain not in lists.never_named:
            end = at + 1
        elif not (end and word.plain in lists.links):
            break
    if not end or end > _CAPITALS:
        return []
    return [(_text(rest[:end], sentence), end)]


def _place(rest: Sequence[_Word], sentence: str, lists: "_Lists") -> list[tuple[str, int]]:
    """Read a place, with the country behind a comma: "Lisbon, Portugal"."""
    read = _capitals(rest, sentence, lists)
    if not read:
        return []
    ((_, end),) = read
    more = rest[end:]
    further = _capitals(more, sentence, lists) if more and more[0].gap.strip() == "," else []
    if further and (end + further[0][1] == len(rest) or _ends(rest[end + further[0][1]].gap)):
        end += further[0][1]
    return [(_text(rest[:end], sentence), end)]


def _moved(rest: Sequence[_Word], sentence: str, lists: "_Lists") -> list[tuple[str, int]]:
    """Read a place to which somebody moved, in a sentence that speaks of no program, device or department."""
    said = {word.plain for word in _words(sentence, lists)}
    return _place(rest, sentence, lists) if lists.products.isdisjoint(said) else []


def _introduced(rest: Sequence[_Word], sentence: str, lists: "_Lists") -> list[tuple[str, int]]:
    """Read a name of one or two words, none of which may be a people, a belief or another word with a capital."""
    read = _capitals(rest, sentence, lists)
    some = rest[: read[0][1]] if read else ()
    named = all(_named(word, lists) for word in some)
    return read if named and len(some) <= _INTRODUCED else []


def _named(word: _Word, lists: "_Lists") -> bool:
    plain, other = word.plain, word_list(lists.language, "not-names")
    known = plain in other or plain in word_list(lists.language, "common-words") or plain in lists.products
    # "Spanish" and "Brazilian" end as a people does; "ADHD" is short for something; "Priya's" leads to another
    shaped = any(plain.endswith(end[1:]) for end in other if end[0] == "-")
    return not (known or shaped or word.written.isupper() or plain.endswith("'s") or "-" in plain)


def _activity(rest: Sequence[_Word], sentence: str, lists: "_Lists") -> list[tuple[str, int]]:
    """Read what somebody does: up to three words, until the clause goes on about something else."""
    start = 1 if rest and rest[0].plain in lists.articles else 0
    end = start
    while end < len(rest) and not (rest[end].gap.strip() and end > start) and rest[end].plain not in lists.after:
        end += 1
    return [(_text(rest[start:end], sentence), end)] if 0 < end - start <= _ACTIVITY else []


def _job(rest: Sequence[_Word], sentence: str, lists: "_Lists") -> list[tuple[str, int]]:
    """Read an occupation that is listed, with what is listed of it before and behind, or is in capitals: "UX"."""
    skipped = 1 if rest and rest[0].plain in lists.articles else 0
    at, found = skipped, False
    while at < len(rest) and not (at > skipped and rest[at].gap.strip()):
        if rest[at].plain in lists.occupations:
            found = True
        elif rest[at].plain not in word_list(lists.language, "occupation-modifiers") and (
            found or not _ACRONYM.fullmatch(rest[at].written)
        ):
            break
        at += 1
    return [(_text(rest[skipped:at], sentence), at)] if found else []


def _work(rest: Sequence[_Word], sentence: str, lists: "_Lists") -> list[tuple[str, int]]:
    """Read as what somebody works: an occupation that is listed, or looks like one, with any words before it.

    "I'm a terrible cook" tells no job, but "I work as a lead cook" does.
    """
    if read := _job(rest, sentence, lists):
        return read
    start = 1 if rest and rest[0].plain in lists.articles else 0
    end = start
    less = lists.after | lists.doubts | lists.links | lists.first_person | lists.alternatives | lists.inside
    while end < len(rest) and not (rest[end].gap.strip() and end > start) and rest[end].plain not in less:
        end += 1
    last = rest[end - 1].plain if end > start else ""
    named = last in lists.occupations or (start and any(last.endswith(one[1:]) for one in lists.function["agent"]))
    return [(_text(rest[start:end], sentence), end)] if named and end - start <= _WORK else []


def _food(rest: Sequence[_Word], sentence: str, lists: "_Lists") -> list[tuple[str, int]]:
    """Read what somebody eats no more, "no meat", and not only at a time, at a place or for a while."""
    found = _listed(rest, sentence, lists, word_list(lists.language, "foods"))
    if not found:
        return []
    behind = rest[found[-1][1] :]
    behind = behind[_phrase(behind, lists.tails) :]
    limited = bool(behind) and not behind[0].gap.strip() and behind[0].plain in lists.limits
    (without,) = lists.function["without"]
    return [] if limited else [(f"{without} {food}", end) for food, end in found]


def _eaten(rest: Sequence[_Word], sentence: str, lists: "_Lists") -> list[tuple[str, int]]:
    """Read what somebody eats again."""
    found = _food(rest, sentence, lists)
    behind = rest[found[-1][1] :] if found else ()
    size = _phrase(behind, word_list(lists.language, "anew"))
    return [*found[:-1], (found[-1][0], found[-1][1] + size)] if size else []


def _allergy(rest: Sequence[_Word], sentence: str, lists: "_Lists") -> list[tuple[str, int]]:
    """Read allergens, one behind another: "nuts, shellfish and pollen"."""
    return _listed(rest, sentence, lists, word_list(lists.language, "allergens"))


def _listed(rest: Sequence[_Word], sentence: str, lists: "_Lists", some: frozenset[str]) -> list[tuple[str, int]]:
    """Read listed words, one behind another."""
    found: list[tuple[str, int]] = []
    at = 0
    while at < len(rest):
        start = at
        while start < len(rest) and rest[start].plain in (lists.articles | lists.joints | lists.alternatives):
            start += 1
        end = start
        while end < len(rest) and rest[end].plain in some and not (end > start and _ends(rest[end].gap)):
            end += 1
        if end == start:
            break
        found.append((_text(rest[start:end], sentence).casefold(), end))
        at = end
    return found


def _birthday(rest: Sequence[_Word], sentence: str, lists: "_Lists") -> list[tuple[str, int]]:
    """Read a day of the year: a month by its name, a day, and a year if there is one."""
    kinds, end = list[str](), 0
    for word in rest[:7]:
        kind = (
            "month"
            if lists.dates.get(word.plain, "").startswith("month")
            else "year"
            if _YEAR.fullmatch(word.plain)
            else "day"
            if _ORDINAL.fullmatch(word.plain)
            else ""
        )
        if not kind and word.plain not in (lists.articles | lists.links | {"on"}):
            break
        end += 1
        kinds += [kind] if kind else []
    if sorted(kinds) not in (["day", "month"], ["day", "month", "year"]):
        return []
    while end and rest[end - 1].plain in (lists.articles | lists.links | {"on"}):
        end -= 1
    start = next(at for at, word in enumerate(rest) if word.plain not in (lists.articles | {"on"}))
    return [(_text(rest[start:end], sentence), end)]


_NAMES = {
    "introduction": "name",
    "moved": "residence",
    "work": "job",
    "new-job": "job",
    "new-work": "job",
    "started": "employer",
    "new-employer": "employer",
    "without": "diet",
    "eaten": "diet",
}
"""Attributes by the kinds of phrases that are read otherwise than their own."""

_ENDED = ("allergy", "hobby", "without", "eaten")
"""Kinds of which a phrase ends the value that stands behind it, and not all."""

_READ = {
    "name": _capitals,
    "introduction": _introduced,
    "nickname": _capitals,
    "residence": _place,
    "moved": _moved,
    "job": _job,
    "work": _work,
    "new-job": _job,
    "new-work": _work,
    "employer": _capitals,
    "started": _capitals,
    "new-employer": _capitals,
    "without": _food,
    "eaten": _eaten,
    "allergy": _allergy,
    "birthday": _birthday,
    "hobby": _activity,
}


@dataclass(frozen=True)
class _Lists:
    language: str
    function: Mapping[str, frozenset[str]]
    dates: Mapping[str, str]
    phrases: Mapping[str, str]
    longest: int
    spellings: Mapping[str, str]
    doubts: frozenset[str]
    negations: frozenset[str]
    first_person: frozenset[str]
    idle: Sequence[str]
    joints: frozenset[str]
    after: frozenset[str]
    never_named: frozenset[str]
    links: frozenset[str]
    articles: frozenset[str]
    alternatives: frozenset[str]
    inside: frozenset[str]
    occupations: frozenset[str]
    products: frozenset[str]
    denials: Sequence[str]
    no_more: frozenset[str]
    tails: frozenset[str]
    limits: frozenset[str]


@cache
def _lists(language: str) -> _Lists:
    def words(*kinds: str) -> frozenset[str]:
        return frozenset(word for kind in kinds for word in word_list(language, kind))

    phrases, dates = word_values(language, "self-descriptions"), word_values(language, "dates")
    kinds: defaultdict[str, set[str]] = defaultdict(set)
    for word, some in word_values(language, "function-words").items():
        for kind in some.split("+"):
            kinds[kind].add(word)
    function = {kind: frozenset(some) for kind, some in kinds.items()}
    contractions = {word: parts for word, parts in word_values(language, "spellings").items() if "'" in word}
    careless = {word.replace("'", ""): contractions[word] for word in ("i'm", "i've", "don't") if word in contractions}
    single = frozenset(word for word in words("hedges", "modals", "negations") if "_" not in word)
    return _Lists(
        language=language,
        function=function,
        dates=dates,
        phrases=phrases,
        longest=max(phrase.count("_") + 1 for phrase in phrases),
        spellings=contractions | careless,
        doubts=single,
        negations=words("negations"),
        first_person=words("first-person"),
        idle=sorted(function["opener"] | words("neutral-words", "interjections"), key=lambda one: -one.count("_")),
        joints=function["joint"],
        after=function["end"] | function["joint"],
        never_named=frozenset(dates) | words("time-words", "stop-words"),
        links=function["link"],
        articles=function["article"],
        alternatives=function["alternative"],
        inside=function["inside"],
        occupations=words("occupations"),
        products=words("products"),
        denials=sorted(function["denial"], key=lambda one: -one.count("_")),
        no_more=function["no-more"],
        tails=function["tail"] | function["no-more"],
        limits=function["limit"],
    )
