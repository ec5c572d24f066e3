"""What a question comes to: a context of cited notes, the answer that a model gives from it, and a prompt with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.interface.results import Result
from memgraph_engine.model.memory import Note, Source
from memgraph_engine.model.profile import Profile

DONT_KNOW = "I don't know."
"""What an answer says if the memory does not hold it."""
UNSURE = "Nothing here clearly answers the question; nearest:"
"""The first line of a context that is not sure."""
BUSY = "The client was busy: pathways, later rounds, the reranker and the counting of use were left out."
"""What `fallbacks` say where more reads ran than the setting `recall.busy` names."""


@dataclass(frozen=True, slots=True, repr=False)
class Cited(Result):
    """A note of a context, under the number by which an answer cites it: [1], [2] and so on.

    `line` is its part of the context: number, days on which it was said, remarks, text. Where the text has several
    lines, those behind the first are indented. `sources` are the note's own and those of notes that say the same;
    `remarks` tell that it is disputed, replaces another or was true once. `shortened` says that `line` has only a part
    of the text.
    """

    brief = ("number", "line")

    number: int
    line: str
    note: Note
    sources: tuple[Source, ...]
    remarks: tuple[str, ...] = ()
    shortened: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Context(Result):
    """What a memory holds on a question, for the prompt of any model: at most `budget` tokens.

    `text` is all of it inside the marks of recalled text, so that `add` leaves it out if the prompt is stored; '' if
    there is nothing. `sure` tells whether it most likely holds the answer; where not, the first line of `text` says so,
    before what is nearest to the question. `tokens` is an estimate, rather too high than too low. `asked` is the
    question as the memory was asked it where that differs, since it refers back to the `history`. `left_out` says, by
    the note's id, why a note that was found is missing. `general` are the lines of claims, where these were asked for,
    `blocks` those of what blocks tell, above the entries.
    `cost` is what the roles `planning`, `sufficiency` and `selecting` cost. `fallbacks` says where the engine did
    without them, or without a reranker, and why, or that it was busy (`degraded`).
    """

    brief = ("query", "entries", "sure", "tokens", "budget")

    query: str
    text: str
    entries: tuple[Cited, ...]
    tokens: int
    budget: int
    left_out: Mapping[str, str] = field(default_factory=dict)
    cost: Cost = NOTHING
    fallbacks: tuple[str, ...] = ()
    asked: str = ""
    general: tuple[str, ...] = ()
    sure: bool = True
    blocks: tuple[str, ...] = ()

    @property
    def degraded(self) -> bool:
        """Whether something was left out because the client was busy (the setting `recall.busy`)."""
        return BUSY in self.fallbacks

    @property
    def lines(self) -> str:
        """What is `shown`, each at the beginning of a line, without marks; behind UNSURE where it is not sure."""
        return "\n".join([*([] if self.sure or not self.shown else [UNSURE]), *self.shown])

    @property
    def shown(self) -> tuple[str, ...]:
        """What `add(…, shown=…)` takes: the lines that a model was shown, to find what it only repeats."""
        return (*self.blocks, *(entry.line for entry in self.entries), *self.general)


@dataclass(frozen=True, slots=True, repr=False)
class Answer(Result):
    """The answer to a question, with the context that it was made from.

    `text` is None if no model answered; `fallbacks` says why, and the context can be shown instead. `known` is False
    if the memory holds nothing on the question, or the model found no answer in the context. `citations` are the
    entries that the text cites, in order; `supported` says whether it cites any. `unknown_citations` are numbers that
    the model made up; they were taken out of the text. `cost` includes the context's.
    """

    brief = ("text", "known", "citations", "fallbacks")

    text: str | None
    context: Context
    known: bool
    supported: bool = False
    citations: tuple[Cited, ...] = ()
    unknown_citations: tuple[int, ...] = ()
    model: str = ""
    cost: Cost = NOTHING
    fallbacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Section(Result):
    """A part of a prompt: its text as the model reads it, the tokens that this has, and those that it may have."""

    brief = ("name", "tokens", "budget")

    name: str
    text: str
    tokens: int
    budget: int


@dataclass(frozen=True, slots=True, repr=False)
class Prompt(Result):
    """What a model is given for a question (MLA-ARC, section 3.7.2; MemoryArchitect, II.E), within a window of tokens.

    `messages` are those of a chat API: a system message with the program's own text, the profile, what is remembered
    (long) and what was said earlier in the session (summary); then the session's last turns (short), and the question.
    `sections` tell the same by name: system, profile, long, summary, short, question. `tokens` is an estimate, rather
    too high than too low, and never more than `window` without the tokens that are kept for the answer. `context` is
    what is remembered, for `reflect`. `cost` is what models cost; `fallbacks` says where the engine did without them,
    or that it was busy.
    """

    brief = ("query", "sections", "tokens", "window")

    query: str
    messages: tuple[Mapping[str, str], ...]
    sections: tuple[Section, ...]
    tokens: int
    window: int
    context: Context
    profile: Profile
    cost: Cost = NOTHING
    fallbacks: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[str, ...]:
        """What `add(…, shown=…)` takes: the lines of the context, to find what an answer only repeats."""
        return self.context.shown

    def section(self, name: str) -> Section:
        """Return a section by its name."""
        return next(one for one in self.sections if one.name == name)
