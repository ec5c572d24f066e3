"""What is kept as a source and makes no note, told without asking a model.

That is a turn without words, small talk, what is said to or by machines, and the memory's own words.

A memory that takes what it recalled, or what an assistant repeats of it, for news fills with copies of itself.
"""

from collections.abc import Iterable, Sequence

from memgraph_engine.ingest.chat import LEFT_OUT
from memgraph_engine.language.questions import small_talk
from memgraph_engine.model.marker import covered, without_recalled
from memgraph_engine.model.memory import Key, Source
from memgraph_engine.settings import GateSettings


def worthless(
    sources: Iterable[Source], language: str, settings: GateSettings, shown: Sequence[str] = ()
) -> dict[Key, str]:
    """Return why sources make no note; `shown` are texts that were put before the model that answered."""
    reasons = {
        source.key: _wordless(source)
        or _unasked(source, settings)
        or _echo(source, shown, language, settings.covered)
        or (_idle(source, language) if settings.discard else "")
        for source in sources
    }
    return {source: reason for source, reason in reasons.items() if reason}


def _wordless(source: Source) -> str:
    if source.text.strip() or source.caption.strip():
        return ""
    left_out = source.metadata.get(LEFT_OUT)
    kinds = f" ({', '.join(map(str, left_out))})" if isinstance(left_out, list) else ""
    return f"a turn without words{kinds}"


def _unasked(source: Source, settings: GateSettings) -> str:
    if settings.noted(source.role):
        return ""
    return "an instruction to the assistant" if source.role == "system" else "what a tool was asked or said"


def _idle(source: Source, language: str) -> str:
    """Say that a turn tells nothing but greetings, thanks and the like."""
    told = source.caption or source.kind == "code"
    said = without_recalled(source.text)
    return "small talk" if not told and small_talk(said, language, assistant=source.role == "assistant") else ""


def _echo(source: Source, shown: Sequence[str], language: str, most: float) -> str:
    said = without_recalled(source.text)
    if source.caption:
        return ""
    if source.text.strip() and not said.strip():
        return "recalled text"
    if shown and source.role == "assistant":
        share = covered(said, shown, language)
        if share >= most:
            return f"the assistant's words, {share:.0%} of which were shown to it"
    return ""
