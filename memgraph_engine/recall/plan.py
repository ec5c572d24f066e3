"""Read a question before the graph is asked it: its topic, whom and what it names, its time (MemFly, section 3.4.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.language.dates import events
from memgraph_engine.lifecycle.policies import Policy
from memgraph_engine.llm.answers import MOST_QUERIES
from memgraph_engine.llm.role import Request, role
from memgraph_engine.llm.roles import Roles
from memgraph_engine.llm.spent import Spent
from memgraph_engine.model.memory import NEVER, UNKNOWN_PAST
from memgraph_engine.model.result import QueryPlan

_MOST_TIMES = 8
_LONGEST_READ = 4096  # characters of a question in which times are looked for


@dataclass(frozen=True, slots=True)
class Reading:
    """A plan, and the vectors of its topic and of each of its keywords; without these the question's own stands in.

    `queries` are the vectors of its queries, `answers` the notes that are known to answer it: none stands above these.
    """

    plan: QueryPlan
    topic: "NDArray[np.float32] | None" = None
    keywords: "Sequence[NDArray[np.float32]]" = ()
    queries: "Sequence[NDArray[np.float32]]" = ()
    answers: frozenset[str] = frozenset()


def read(question: str, languages: Sequence[str], moment: datetime) -> Reading:
    """Read a question without a model: only its times are looked for, what it names is looked up by the statement.

    `moment` is the present of the question, in the zone whose days it means.

    >>> ((start, end),) = read("Where was Ana in May 2023?", ["english"], datetime(2026, 1, 1, tzinfo=UTC)).plan.times
    >>> str(start), str(end)
    ('2023-05-01 00:00:00+00:00', '2023-06-01 00:00:00+00:00')
    """
    named = (event for language in languages for event in events(question[:_LONGEST_READ], moment, language))
    times = dict.fromkeys((event.start, event.end) for event in named)
    return Reading(QueryPlan(times=tuple(times)[:_MOST_TIMES]))


def planning(
    question: str, moment: datetime, turns: Sequence[tuple[str, str]] = (), classes: Sequence[Policy] = ()
) -> Request:
    """Ask what a question is about, whom and what it names, which days, and what to look for.

    And which of the `classes`, where there are any, and what kind of source it is about.
    `moment` is the present of the question, `turns` are those before it, each its role and its text.
    """
    before = [{"role": said_by or "user", "text": text} for said_by, text in turns]
    asked = {"asked on": f"{moment:%A %Y-%m-%d}", "said before": before, "text": question}
    listed = [{"class": one.name, "about": one.about} for one in classes]
    return role("planning-intent").request([asked], classes=listed) if listed else role("planning").request([asked])


def read_by_model(
    question: str,
    moment: datetime,
    turns: Sequence[tuple[str, str]],
    roles: Roles,
    embedder: CheckedEmbedder,
    spent: Spent,
    *,
    routed: bool = False,
    classes: Sequence[Policy] = (),
) -> Reading | None:
    """Let the role `planning` read a question, with the turns before it; None where it fails.

    Where they are `routed`, what it says is general is none of the queries for which notes are looked for.
    """
    answer = roles.asked(planning(question, moment, turns, classes), spent, "Reading the question")
    if answer is None:
        return None
    (one,) = answer.items
    after = None if one.until in (None, date.max) else one.until + timedelta(days=1)
    start, end = _midnight(one.since, moment, UNKNOWN_PAST), _midnight(after, moment, NEVER)
    times = ((start, end),) if one.since or one.until else ()
    queries = tuple(text for text in dict.fromkeys(one.queries) if text and text != question)[: MOST_QUERIES - 1]
    general = tuple(text for text in dict.fromkeys(one.general) if text and routed)
    queries = tuple(text for text in queries if text not in general)
    policies = tuple(policy.name for policy in classes if policy.name in one.classes)
    kind = one.kind if classes else ""
    plan = QueryPlan(one.topic, one.keywords, times, answer.model, queries, general, policies, kind)
    texts = [text for text in (plan.topic, *plan.keywords) if text]
    vectors = list(embedder.embed_documents(texts)) if texts else []
    asked = [embedder.embed_query(query) for query in queries]
    return Reading(plan, vectors.pop(0) if plan.topic else None, vectors, asked)


def _midnight(day: date | None, moment: datetime, otherwise: datetime) -> datetime:
    """Return the first moment of a day where the question is asked, or the far date that stands for none."""
    if day is None:
        return otherwise
    try:
        return datetime.combine(day, time(), moment.tzinfo).astimezone(UTC)
    except OverflowError:  # a day at either end of all time
        return otherwise
