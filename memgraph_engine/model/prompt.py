"""A prompt: what a model is given for a question, section by section, within its window."""

from collections.abc import Mapping
from dataclasses import dataclass

from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.interface.results import Result
from memgraph_engine.model.answer import Context
from memgraph_engine.model.profile import Profile


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

    brief = ("question", "sections", "tokens", "window")

    question: str
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
