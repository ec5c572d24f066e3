"""Put a prompt together (MLA-ARC, section 3.7.2): profile, long term, short term and question, within a window."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from memgraph_engine.answer.lines import shortened
from memgraph_engine.errors import InvalidInput
from memgraph_engine.lifecycle.summaries import extract, rarity, unfaithful
from memgraph_engine.llm.role import role
from memgraph_engine.llm.roles import Roles
from memgraph_engine.llm.spent import Spent
from memgraph_engine.llm.tokens import FRAME, most_tokens
from memgraph_engine.model.answer import Context, Prompt, Section
from memgraph_engine.model.marker import as_part, enclose, without_marks, without_recalled
from memgraph_engine.model.memory import Source, label, line
from memgraph_engine.model.profile import Profile
from memgraph_engine.settings import PromptSettings

PROFILE = "What is known about the user:"
LONG = "What is remembered, by numbers:"
SUMMARY = "What was said earlier in this conversation, in short:"
_SUMMARY = 0.25  # share of the short term's budget that its summary has where not all turns have room
_BREAK = 2  # tokens between two parts of the system message
HEADING = most_tokens(f"{LONG}\n") + _BREAK
"""Tokens that what is remembered has beside its context."""


@dataclass(frozen=True, slots=True)
class Room:
    """How many tokens each part may have, and those that the system's text and the question have."""

    profile: int
    long: int
    short: int
    system: int
    question: int


@dataclass(frozen=True, slots=True)
class ShortTerm:
    """The last turns of a session that have room, the oldest first, and what sums up those before.

    `whole` of the turns stand there word for word; `earlier` are those that don't.
    """

    turns: tuple[Mapping[str, str], ...] = ()
    whole: tuple[Source, ...] = ()
    earlier: tuple[Source, ...] = ()
    summary: str = ""


def room(question: str, system: str, window: int, settings: PromptSettings) -> Room:
    """Share a window out; raises InvalidInput where the question and the system's text alone pass it.

    Where not all parts have room each has its share of what there is.
    """
    asked = most_tokens(question) + FRAME
    told = part_tokens(system)
    needed = asked + told + FRAME + settings.answer
    left = window - needed
    if left < 0:
        raise InvalidInput(
            f"A window of {window:,} tokens has no room: the question and the system's text take "
            f"{needed - settings.answer:,}, and the setting prompt.answer keeps {settings.answer:,} for the answer. "
            f"Give a window of {needed:,} tokens or more, or a smaller prompt.answer."
        )
    wanted = (settings.profile, settings.long, settings.short)
    share = min(1.0, left / sum(wanted)) if sum(wanted) else 0.0
    profile, long, short = (int(one * share) for one in wanted)
    return Room(profile, long, short, told, asked)


def part_tokens(text: str) -> int:
    """Return what a part of the system message takes, with the break before it; nothing for none."""
    return most_tokens(text) + _BREAK if text else 0


def told_profile(profile: Profile, budget: int) -> str:
    """Return a profile between marks, as many of its lines as have room."""
    lines = profile.text.splitlines()
    while lines and part_tokens(text := f"{PROFILE}\n{enclose(_lines(lines))}") > budget:
        lines.pop()
    return text if lines else ""


def short_term(turns: Sequence[Source], budget: int, question: str, most: int, language: str) -> ShortTerm:
    """Return the last turns, oldest first, word for word as far as they have room; no more than `most`."""
    said = [turn for turn in turns if _message(turn)["content"]]
    messages = [_message(turn) for turn in said]
    if len(said) <= most and _turns_tokens(messages) <= budget:
        return ShortTerm(tuple(messages), tuple(said))
    kept, left = list[Mapping[str, str]](), budget - int(budget * _SUMMARY)
    for message in reversed(messages[-most:] if most else []):
        taken = _turns_tokens([message])
        if taken > left:
            break
        kept.insert(0, message)
        left -= taken
    whole = len(kept)
    if messages and not kept and left > FRAME:  # one turn alone is longer
        last = messages[-1]
        if part := shortened(last["content"], left - FRAME, question, language):
            kept = [{**last, "content": part}]
    earlier = said[: len(said) - len(kept)]
    return ShortTerm(tuple(kept), tuple(said[len(said) - whole :]), tuple(earlier))


def side_by_side(
    remembered: Callable[[Sequence[Source]], Context],
    turns: Sequence[Source],
    long: int,
    short: int,
    question: str,
    language: str,
) -> tuple[Context, ShortTerm, int]:
    """Return a context, the turns beside it, and what these may have; `remembered` makes one beside some turns.

    The context leaves out what the turns tell word for word, and the turns have its unused room. So it is first made
    beside all turns; where not all of these have room then, it is made anew beside those that do, until both agree.
    """
    told = tuple(turns)
    while True:
        context = remembered(told)
        most = short + long - (HEADING + context.tokens if context.text else 0)
        recent = short_term(turns, most, question, len(told), language)
        if len(recent.whole) == len(told):
            return context, recent, most
        told = recent.whole


def summed_up(recent: ShortTerm, budget: int, language: str, roles: Roles, spent: Spent) -> ShortTerm:
    """Return the short term with a summary of the turns that it does not show, in what they leave of its budget."""
    room = budget - _turns_tokens(recent.turns) - _BREAK
    return replace(recent, summary=_summary(recent.earlier, room, language, roles, spent))


def assemble(
    question: str,
    system: str,
    window: int,
    given: Room,
    profile: tuple[Profile, str],
    long: tuple[Context, int],
    short: tuple[ShortTerm, int],
) -> Prompt:
    """Put the parts together; each comes with the tokens that it may have."""
    (known, about), (context, most_long), (recent, most_short) = profile, long, short
    remembered = f"{LONG}\n{context.text}" if context.text else ""
    parts = [part for part in (system, about, remembered, recent.summary) if part]
    messages: list[Mapping[str, str]] = [{"role": "system", "content": "\n\n".join(parts)}] if parts else []
    messages += [*recent.turns, {"role": "user", "content": question}]
    said = "\n".join(f"{turn['role']}: {turn['content']}" for turn in recent.turns)
    most_summary = max(most_short - _turns_tokens(recent.turns), 0)
    texts = (
        ("system", system, given.system),
        ("profile", about, given.profile),
        ("long", remembered, most_long),
        ("summary", recent.summary, most_summary),
        ("short", said, most_short),
        ("question", question, given.question),
    )
    sections = tuple(Section(name, text, most_tokens(text) if text else 0, budget) for name, text, budget in texts)
    return Prompt(question, tuple(messages), sections, _turns_tokens(messages), window, context, known)


def _turns_tokens(messages: Sequence[Mapping[str, str]]) -> int:
    return sum(most_tokens(message["content"]) + FRAME for message in messages)


def _message(turn: Source) -> Mapping[str, str]:
    """Return a turn as chat APIs take it; who speaks is told where the role alone does not."""
    said = without_marks(without_recalled(turn.text)).strip()
    if turn.caption:
        said = f"{said} [image: {as_part(turn.caption, ']')}]".strip()
    if not turn.role and (who := label(turn)) and said:
        said = f"{as_part(who, ':')}: {said}"
    return {"role": "assistant" if turn.role == "assistant" else "user", "content": said}


def _summary(turns: Sequence[Source], budget: int, language: str, roles: Roles, spent: Spent) -> str:
    """Sum turns up, by a model where there is one; what has no room is left out, the oldest first."""
    if not turns:
        return ""
    written = _written(turns, language, roles, spent)
    if written and most_tokens(text := _summed([written])) <= budget:
        return text
    texts = [without_recalled(turn.text) for turn in turns]
    whole = sum(most_tokens(text) for text in texts)
    keep = min(0.9, max(budget, 1) / whole)
    kept = extract(texts, rarity(texts, language), keep, language)
    lines = [
        line(replace(turn, text=some, said_as=None, caption=""), language)
        for turn, some in zip(turns, kept, strict=True)
        if some
    ]
    while lines and most_tokens(_summed(lines)) > budget:
        lines.pop(0)
    return _summed(lines) if lines else ""


def _written(turns: Sequence[Source], language: str, roles: Roles, spent: Spent) -> str:
    """Return what the role `consolidation` makes of turns; '' without one, or where it tells them unfaithfully."""
    if not roles.has("consolidation"):
        return ""
    lines = [line(turn, language) for turn in turns]
    answer = roles.asked(role("consolidation").request([{"lines": lines}]), spent, "Consolidation")
    if answer is None:
        return ""
    (summary,) = (one.summary for one in answer.items)
    return "" if unfaithful(summary, lines, [turn.text for turn in turns], language) else summary


def _summed(lines: Sequence[str]) -> str:
    return f"{SUMMARY}\n{enclose(_lines(lines))}"


def _lines(lines: Sequence[str]) -> str:
    return "\n" + "\n".join(lines) + "\n"
