"""From results to figures: means over the questions of each category, and over all of them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from memgraph_engine.arrays import np
from memgraph_engine.evaluation.experiment import ANSWER, BUILT, FOUND, JUDGED, Experiment, Task
from memgraph_engine.evaluation.kept import Journal
from memgraph_engine.evaluation.locomo import ADVERSARIAL, CATEGORIES
from memgraph_engine.evaluation.ranking import Difference, hit_at, paired, recall_at
from memgraph_engine.evaluation.variants import FULL_CONTEXT

RECALL, HIT, JUDGE, TOKENS = "Recall", "Hit rate", "Judge", "tokens"
SEARCH, TOTAL = "search", "total"
"""Seconds of a search, and of a context with its answer."""
COMPARED = (RECALL, "F1", "BLEU-1", JUDGE)
"""Measures by which variants are compared question by question."""

ALL = "all"
"""Over all questions: each category counts by the number of its questions (MemFly, appendix B)."""
BUT_ADVERSARIAL = "1-4"
"""Over all questions that have an answer."""


@dataclass(frozen=True, slots=True)
class Compared:
    """How much better a variant is than another by a measure, over the questions of a category that both have."""

    variant: str
    against: str
    measure: str
    category: str
    difference: Difference


_Key = tuple[str, int, str, str]  # variant, k, measure, category (its number, or ALL, or 1-4)
_Asked = tuple[str, int]  # a question: its conversation and its number


class Summary:
    """All figures of a run, as far as it is done."""

    def __init__(self, experiment: Experiment, results: Journal) -> None:
        self.experiment = experiment
        self._scores = _scores(experiment, results)
        self._means = {key: sum(some.values()) / len(some) for key, some in self._scores.items()}
        self.compared = [*_compared(experiment, self._scores)]
        self.fallbacks = {
            f"{key[1]}, {key[2]}": list(entry["fallbacks"])
            for key, entry in results.items()
            if key[0] == BUILT and entry["fallbacks"]
        }
        self.unusable = sum("failed" in entry for key, entry in results.items() if key[0] in (ANSWER, JUDGED))
        self.unaided = Counter(
            (str(key[1]), part)
            for key, entry in results.items()
            if key[0] == (ANSWER if experiment.model else FOUND) and key[2] == _usual(experiment, str(key[1]))
            for part in {told.partition(":")[0] for told in entry.get("fallbacks", ())}
        )

    def value(self, variant: str, measure: str, category: str = ALL, k: int | None = None) -> float | None:
        """Return a mean, None if nothing was measured; `k` is the experiment's first if it is not given."""
        return self._means.get((variant, _usual(self.experiment, variant) if k is None else k, measure, category))

    def by_category(self, variant: str, measure: str, k: int | None = None) -> list[float | None]:
        """Return its means over each of CATEGORIES, in their order."""
        return [self.value(variant, measure, str(number), k) for number in CATEGORIES]

    def latency(self, variant: str, measure: str, k: int) -> tuple[float | None, float | None]:
        """Return within how many milliseconds half of all questions were done, and 95 of 100."""
        taken = [*self._scores.get((variant, k, measure, ALL), {}).values()]
        half, most = (np.percentile(taken, (50, 95)) * 1000).tolist() if taken else (None, None)
        return half, most

    def questions(self) -> dict[str, int]:
        """Return how many questions each category has."""
        every = [one.category for conversation in self.experiment.conversations for one in conversation.questions]
        return {str(number): every.count(number) for number in CATEGORIES} | {ALL: len(every)}

    def flat(self) -> dict[str, float]:
        """Return all figures by one name each, e.g. `memory.Recall@20.1`."""
        return {f"{name}.{measure}@{k}.{category}": mean for (name, k, measure, category), mean in self._means.items()}


def _usual(experiment: Experiment, variant: str) -> int:
    return 0 if variant == FULL_CONTEXT else experiment.ks[0]


def _scores(experiment: Experiment, results: Journal) -> dict[_Key, dict[_Asked, float]]:
    scores: dict[_Key, dict[_Asked, float]] = {}
    for conversation in experiment.conversations:
        for task in experiment.tasks(conversation):
            number = task.question.category
            for measure, value in _measured(task, results).items():
                for category in (str(number), ALL, *((BUT_ADVERSARIAL,) if number != ADVERSARIAL else ())):
                    some = scores.setdefault((task.variant.name, task.k, measure, category), {})
                    some[task.conversation, task.number] = value
    return scores


def _compared(experiment: Experiment, scores: Mapping[_Key, Mapping[_Asked, float]]) -> Iterator[Compared]:
    """Compare each variant, with its usual k, with the one that it differs from."""
    others = [one for one in experiment.variants if one.name != one.against]
    for one, measure, category in product(others, COMPARED, (ALL, BUT_ADVERSARIAL)):
        names = (one.name, one.against)
        mine, theirs = (scores.get((name, _usual(experiment, name), measure, category), {}) for name in names)
        if both := [asked for asked in mine if asked in theirs]:
            difference = paired([mine[asked] for asked in both], [theirs[asked] for asked in both])
            yield Compared(one.name, one.against, measure, category, difference)


def _measured(task: Task, results: Journal) -> dict[str, float]:
    """Return what is known of one task, by measure."""
    measured: dict[str, float] = {}
    if found := results.get(task.key(FOUND)):
        evidence = task.question.evidence
        measured[RECALL] = recall_at(task.k, found["sources"], evidence)
        measured |= {SEARCH: found["seconds"]} if "seconds" in found else {}  # an older run took no time
        measured[HIT] = hit_at(task.k, found["sources"], evidence)
    if answer := results.get(task.key(ANSWER)):
        measured |= answer["scores"]
        measured |= {TOTAL: answer["seconds"]} if "seconds" in answer else {}
        measured[TOKENS] = float(answer["cost"]["input_tokens"]) if answer["cost"] else 0.0
    if judged := results.get(task.key(JUDGED)):
        measured[JUDGE] = 100.0 * judged["correct"]
    return measured
