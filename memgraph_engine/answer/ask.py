"""Ask the role answering for an answer from a context; whatever it does, there is an answer that says so."""

import re
from collections.abc import Generator, Iterator, Sequence
from datetime import datetime

from memgraph_engine.errors import ModelError
from memgraph_engine.llm.role import Request, role
from memgraph_engine.llm.roles import Roles, TextAnswer
from memgraph_engine.llm.spent import Spent
from memgraph_engine.model.answer import DONT_KNOW, Answer, Cited, Context

_CITATION = re.compile(r"\s*\[(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\]")
_PARTS = re.compile(r"(\d+)(?:\s*[–-]\s*(\d+))?")
_OPEN = re.compile(r"\s*\[[\d\s,;–-]{0,60}$|\s+$")  # what may still become a citation


class Citations:
    """Reads an answer, and takes out of it the numbers that the context does not have.

    `cited` and `unknown` are the numbers met so far, each once, in order.

    >>> citations = Citations(most=2)
    >>> "".join([*citations.feed("Ana lives in Porto [1, 7], with Bo [9"), *citations.feed("]."), *citations.end()])
    'Ana lives in Porto [1], with Bo.'
    >>> list(citations.cited), list(citations.unknown)
    ([1], [7, 9])
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting = ""
        self.cited: dict[int, None] = {}
        self.unknown: dict[int, None] = {}

    def feed(self, piece: str) -> Iterator[str]:
        """Take the next piece, and yield what can be shown of the answer now."""
        self._waiting += piece
        open_ = _OPEN.search(self._waiting)
        at = open_.start() if open_ else len(self._waiting)
        yield from self._checked(self._waiting[:at])
        self._waiting = self._waiting[at:]

    def end(self) -> Iterator[str]:
        """Yield the rest."""
        yield from self._checked(self._waiting.rstrip())
        self._waiting = ""

    def _checked(self, text: str) -> Iterator[str]:
        if shown := _CITATION.sub(self._known, text):
            yield shown

    def _known(self, found: re.Match[str]) -> str:
        numbers = dict.fromkeys(number for part in _PARTS.finditer(found[1]) for number in _numbers(part))
        known = [number for number in numbers if 1 <= number <= self._most]
        self.cited |= dict.fromkeys(known)
        self.unknown |= {number: None for number in numbers if number not in known}
        space = found[0][: found[0].index("[")]
        return f"{space}[{', '.join(map(str, known))}]" if known else ""


def cited_in(text: str, entries: Sequence[Cited]) -> list[Cited]:
    """Return the entries of a context that a text cites by their numbers, in order."""
    read = Citations(len(entries))
    for _ in (*read.feed(text), *read.end()):
        pass
    return [entries[number - 1] for number in read.cited]


def _numbers(part: re.Match[str]) -> Sequence[int]:
    """Return the numbers of a single citation or of a range; one that runs backwards is its two ends."""
    first, last = int(part[1]), int(part[2] or part[1])
    return range(first, last + 1) if first <= last else (first, last)


_UNKNOWN = "UNKNOWN"  # what the prompt asks a model to say
_PLAIN_UNKNOWN = re.compile(r"\W*i (?:don['’]?t|do not) know\b", re.IGNORECASE)
_PART = "Answering"


def ask(
    context: Context, moment: datetime, roles: Roles, spent: Spent, *, stream: bool
) -> Generator[str | Answer, None, None]:
    """Yield the answer: with `stream` its text in pieces first. No model is asked about an empty context."""
    if not context.entries:
        text = DONT_KNOW if roles.has("answering") else None
        if text and stream:
            yield text
        yield Answer(text, context, known=False, fallbacks=() if text else (_NO_MODEL,))
        return
    if not roles.has("answering"):
        yield Answer(None, context, known=context.sure, fallbacks=(_NO_MODEL,))
        return
    reading = _Reading(len(context.entries))
    request = answering(context.asked or context.query, context.lines, moment)
    try:
        for piece in roles.tell(request, meters=spent.meters, stream=stream):
            if isinstance(piece, TextAnswer):
                told = piece
            else:
                yield from reading.feed(piece)
    except ModelError as error:
        spent.failed(_PART, error)
        yield Answer(None, context, known=context.sure, cost=error.cost, fallbacks=spent.fallbacks)
        return
    spent.cost += told.cost
    if not stream:
        list(reading.feed(told.text))
    rest = "".join(reading.end())
    if stream and rest:
        yield rest
    yield reading.answer(context, told)


_NO_MODEL = f"{_PART} was done without a model: none is set for the role answering. Set llm.model to have one."


def answering(question: str, context: str, moment: datetime) -> Request:
    """Ask for the answer to a question from numbered lines of a context; `moment` is the present of the question."""
    asked = [{"asked on": f"{moment:%A %Y-%m-%d}", "question": question}]
    return role("answering").request(question=asked, notes=context)


class _Reading:
    """Reads an answer as it comes; what says that there is none is not shown."""

    def __init__(self, most: int) -> None:
        self._citations = Citations(most)
        self._begin = ""
        self._known: bool | None = None
        self._shown: list[str] = []

    def feed(self, piece: str) -> Iterator[str]:
        """Yield what can be shown."""
        if self._known is None:
            self._begin += piece
            letters = "".join(re.findall(r"[^\W_]", self._begin))
            if len(letters) <= len(_UNKNOWN) and _UNKNOWN.startswith(letters):
                return
            self._known = not re.match(rf"[\W_]*{_UNKNOWN}\b", self._begin)
            piece = self._begin.lstrip()
        if self._known:
            yield from self._show(self._citations.feed(piece))

    def end(self) -> Iterator[str]:
        """Yield the rest."""
        if self._known is None:  # as short as the word itself, or a part of it
            self._known = "".join(re.findall(r"[^\W_]", self._begin)) != _UNKNOWN
            if self._known:
                yield from self._show(self._citations.feed(self._begin.strip()))
        yield from self._show(self._citations.end() if self._known else iter([DONT_KNOW]))

    def _show(self, pieces: Iterator[str]) -> Iterator[str]:
        for piece in pieces:
            self._shown.append(piece)
            yield piece

    def answer(self, context: Context, told: TextAnswer) -> Answer:
        """Return the answer, with its citations."""
        text, cited = "".join(self._shown), tuple(self._citations.cited)
        if not text:
            why = f"{_PART} was done without a model: {told.model} gave nothing but citations of what is not there."
            return Answer(None, context, known=context.sure, model=told.model, cost=told.cost, fallbacks=(why,))
        if not cited and _PLAIN_UNKNOWN.match(text):
            return Answer(DONT_KNOW, context, known=False, model=told.model, cost=told.cost)
        return Answer(
            text,
            context,
            known=True,
            supported=bool(cited),
            citations=tuple(context.entries[number - 1] for number in cited),
            unknown_citations=tuple(self._citations.unknown),
            model=told.model,
            cost=told.cost,
        )
