"""What a run will cost, before it costs anything: the requests that it will make, rendered and counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.evaluation.answering import answering_brief, judging
from memgraph_engine.evaluation.experiment import ANSWER, JUDGED, Experiment, Task
from memgraph_engine.evaluation.kept import Journal, KeptChat
from memgraph_engine.evaluation.variants import FULL_CONTEXT, Variant
from memgraph_engine.ingest.extract import extraction, turn
from memgraph_engine.ingest.messages import parse_message
from memgraph_engine.llm.role import role
from memgraph_engine.model.memory import Source, line
from memgraph_engine.recall.plan import planning
from memgraph_engine.recall.refine import sufficiency
from memgraph_engine.recall.select import selecting
from memgraph_engine.settings import Settings

_KEPT_OF_A_TURN = 60  # tokens of JSON, keywords and dates that the extractor writes beside a turn's own words
_COMPARED = 3  # stored notes that the gate role is asked about for each new one, at most
_JUDGED_PAIR = 60  # tokens in which a model judges a pair
_SHORT = 30  # tokens of a short answer
_VERDICT = 60  # and of a verdict on one
_SELECTED = 4  # and of the number of a note that is kept
_PLAN = 120  # and of what a question is about


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is still to be paid for: the memories, the answers, the verdicts; rather too much than too little."""

    construction: Cost = NOTHING
    answers: Cost = NOTHING
    judgements: Cost = NOTHING

    @property
    def total(self) -> Cost:
        """All of it."""
        return self.construction + self.answers + self.judgements


def estimate(
    experiment: Experiment, results: Journal, settings: Settings, llm: KeptChat | None, judge: KeptChat | None
) -> Estimate:
    """Count the requests of what is not done yet; what a broken-off construction has paid for is counted again."""
    found = Estimate()
    for conversation in experiment.conversations:
        tasks = experiment.pending(conversation, results)
        sources = [parse_message(turn, turn["id"], timezone="UTC", max_text=1_000_000) for turn in conversation.turns]
        if llm:
            built = {task.variant.memory for task in tasks}
            variants = [one for one in experiment.variants if one.models and one.name in built]
            found = Estimate(
                sum((_construction(one, sources, settings, llm) for one in variants), found.construction),
                found.answers + _answers(tasks, sources, results, settings, llm),
                found.judgements + (_judgements(tasks, results, judge) if judge else NOTHING),
            )
    return found


def _construction(variant: Variant, sources: Sequence[Source], settings: Settings, llm: KeptChat) -> Cost:
    """Return what a memory costs that is written with a model: the extractor's part, and the gate's."""
    gate, limit = variant.settings(settings).gate, settings.llm.batch_tokens
    turns = [turn(source.text, source.speaker, source.said_at) for source in sources]
    cost = NOTHING
    if gate.denoise:
        asked = role("extraction")
        for group in asked.batches(turns, dict, limit):
            written = sum(asked.tokens(one) + _KEPT_OF_A_TURN for one in group)
            cost += llm.estimate(extraction(group).messages, written)
    if gate.update:
        texts = [source.text for source in sources]
        notes = [{"text": text, "candidates": texts[at : at + _COMPARED]} for at, text in enumerate(texts)]
        for some in role("gating").batches(notes, dict, limit):
            request = role("gating").request(some)
            cost += llm.estimate(request.messages, _JUDGED_PAIR * len(request.asked))
    return cost


def _answers(
    tasks: Sequence[Task], sources: Sequence[Source], results: Journal, settings: Settings, llm: KeptChat
) -> Cost:
    """Return what the answers cost: as many turns as notes are shown, and all of them without a memory.

    Where there may be more rounds than one a model reads the question first, and before each but the first it is
    shown the notes too, to say whether they are enough. Where one selects the notes, it is shown more of them.
    """
    lines = [line(source, "english") for source in sources]
    asked = [task for task in tasks if ANSWER in task.pending(results)]
    cost = NOTHING
    for k in sorted({task.k for task in asked}):
        some = [task for task in asked if task.k == k]
        longest = max((task.question.text for task in some), key=len)
        shown = lines if some[0].variant.name == FULL_CONTEXT else lines[:: max(1, len(lines) // k)][:k]
        cost += _times(llm.estimate(answering_brief(longest, "\n".join(shown)).messages, _SHORT), len(some))
        read = [(task.variant.unasked, task.variant.settings(settings)) for task in some if task.variant.models]
        if selected := [one.recall for _, one in read if one.recall.selects]:
            choice = [{"text": one} for one in lines[:: max(1, len(lines) // (selected[0].candidates * k))]]
            cost += _times(llm.estimate(selecting(longest, choice, k).messages, _SELECTED * k), len(selected))
        if again := sum(one.answer.rounds - 1 for unasked, one in read if "sufficiency" not in unasked):
            cost += _times(llm.estimate(sufficiency(longest, shown).messages, _VERDICT), again)
        if planned := sum(one.answer.rounds > 1 for unasked, one in read if "planning" not in unasked):
            moment = sources[-1].said_at or datetime.now(UTC)
            cost += _times(llm.estimate(planning(longest, moment).messages, _PLAN), planned)
    return cost


def _judgements(tasks: Sequence[Task], results: Journal, judge: KeptChat) -> Cost:
    waiting = [task.question for task in tasks if JUDGED in task.pending(results)]
    requests = (judging(one.text, one.answer, one.answer) for one in waiting)
    return sum((judge.estimate(one.messages, _VERDICT) for one in requests), NOTHING)


def _times(cost: Cost, times: int) -> Cost:
    money = None if cost.money is None else cost.money * times
    return Cost(cost.calls * times, cost.input_tokens * times, cost.output_tokens * times, money)
