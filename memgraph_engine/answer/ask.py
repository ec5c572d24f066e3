"""Ask the role answering for an answer from a context; whatever it does, there is an answer that says so."""

import re
from collections.abc import Generator, Iterator
from datetime import datetime

from memgraph_engine.answer.citations import Citations
from memgraph_engine.errors import ModelError
from memgraph_engine.llm.role import Request, role
from memgraph_engine.llm.roles import Roles, TextAnswer
from memgraph_engine.llm.spent import Spent
from memgraph_engine.model.answer import DONT_KNOW, Answer, Context

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
    request = answering(context.asked or context.question, context.lines, moment)
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
