"""The questions that a Memory answers: with hits, with a context, with an answer."""

from collections.abc import Generator, Mapping, Sequence
from datetime import datetime
from typing import Unpack

from memgraph_engine import wiring
from memgraph_engine.errors import InvalidInput
from memgraph_engine.model.answer import Answer, Context
from memgraph_engine.model.result import Anchor, Hit
from memgraph_engine.model.scope import Scope
from memgraph_engine.reading import Narrowing, Reader


class Questions:
    """The part of `Memory` that is asked questions."""

    def __init__(self, engine: wiring.Engine, reader: Reader) -> None:
        self.engine = engine
        self._settings = engine.settings
        self._reader = reader

    def search(
        self,
        question: str,
        *,
        user_id: str | None = None,
        shared: bool = False,
        top_k: int = 20,
        rounds: int | None = None,
        session: str | None = None,
        speaker: str | None = None,
        role: str | None = None,
        agent: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        as_of: datetime | str | None = None,
        known_at: datetime | str | None = None,
        tags: Sequence[str] = (),
        metadata: Mapping[str, object] | None = None,
        min_similarity: float | None = None,
        explain: bool = False,
    ) -> list[Hit]:
        """Return the notes that answer a question best, best first, from the user's own memory and the shared one.

        With `shared=True` only the shared memory is read. `since` and `until` are when it was said, both
        included; a day stands for all of it. `tags` and `metadata` must all be there. `min_similarity` (-1 to 1)
        cuts by `Hit.similarity`.

        With more `rounds` than one (at most 3; else the setting `recall.rounds`) the memory is asked again where the
        best notes do not cover the question: for what the role `sufficiency` wants to know, or without a model by the
        best note's own words and vector; the role `planner` reads the question first. One round asks no model.
        `explain=True` tells each round.

        A time in the question ("in May 2023", "last week") brings notes of that time forward and leaves none out.

        `as_of` asks for what was true in the world at that moment, as far as it is known now; `known_at` for what
        the memory held at that moment, in the words of then, whatever became of it since (nothing deleted then; what
        was superseded or archived then says so by its status). Both together: what was held then to be true at
        `as_of`. For each a day means its end.
        """
        return self._reader.search(
            self._scope(user_id, shared),
            question,
            top_k=top_k,
            rounds=rounds,
            explain=explain,
            session=session,
            speaker=speaker,
            role=role,
            agent=agent,
            since=since,
            until=until,
            as_of=as_of,
            known_at=known_at,
            tags=tags,
            metadata=metadata,
            min_similarity=min_similarity,
        )

    def anchors(self, question: str, *, user_id: str | None = None, shared: bool = False) -> list[Anchor]:
        """Return where the pathways of a question begin: keywords near it, named by it, or of the topics near it.

        Each with its score and the notes that it leads to, the best of each channel first. `search(..., explain=True)`
        says what they come to: a note's raw score in a channel is the sum of its anchors' `score` · `rarity`.

        >>> from memgraph_engine import Memory
        >>> with Memory.connect(tenant=tenant) as memory:
        ...     _ = memory.add("The ferry leaves from the old harbour.", user_id="bo")
        ...     [a.keyword for a in memory.anchors("Where is the harbour?", user_id="bo") if a.score == 1]
        ['harbour']
        """
        return self._reader.anchors(self._scope(user_id, shared), question)

    def context(
        self,
        question: str,
        *,
        user_id: str | None = None,
        shared: bool = False,
        budget: int | None = None,
        top_k: int = 20,
        **narrowing: Unpack[Narrowing],
    ) -> Context:
        """Return what the memory holds on a question, numbered and dated, for the prompt of a model of your own.

        It has at most `budget` tokens (200 or more, by an estimate on the safe side; else the setting `answer.budget`).
        `top_k` notes are considered, narrowed as by `search`: best first, some newest ones between, long ones
        shortened, repeats left out, of contradictions the newest. The best one is always in it.

        >>> from memgraph_engine import Memory
        >>> with Memory.connect(tenant=tenant) as memory:
        ...     _ = memory.add("I moved to Lisbon.", user_id="ana", speaker="Ana", time="2023-05-08")
        ...     print(memory.context("Where does Ana live?", user_id="ana").text)
        <recalled-memory>
        [1] 2023-05-08: Ana: I moved to Lisbon. (8 May, 2023)
        </recalled-memory>
        """
        scope = self._scope(user_id, shared)
        return self._reader.context(scope, question, budget=budget, top_k=top_k, **narrowing)

    def answer(
        self,
        question: str,
        *,
        user_id: str | None = None,
        shared: bool = False,
        budget: int | None = None,
        top_k: int = 20,
        **narrowing: Unpack[Narrowing],
    ) -> Answer:
        """Let the answerer role answer a question from its `context`, with citations [1] that are checked.

        Without a model, or where it fails, the answer's `text` is None and `fallbacks` says why: no error of a model
        is raised. `known` is False where the memory holds no answer.
        """
        scope = self._scope(user_id, shared)
        context = self._reader.context(scope, question, budget=budget, top_k=top_k, **narrowing)
        (answer,) = self._reader.answer(scope, context, narrowing.get("as_of"), stream=False)
        assert isinstance(answer, Answer)
        return answer

    def answer_stream(
        self,
        question: str,
        *,
        user_id: str | None = None,
        shared: bool = False,
        budget: int | None = None,
        top_k: int = 20,
        **narrowing: Unpack[Narrowing],
    ) -> Generator[str | Answer, None, None]:
        """Yield the answer in pieces of text while it comes, then the whole Answer, as `answer` returns it.

        The pieces make up its text, unless its `text` is None: then what was yielded before broke off. Who stops
        listening closes it (`contextlib.closing`), and so ends the request.
        """
        scope = self._scope(user_id, shared)
        context = self._reader.context(scope, question, budget=budget, top_k=top_k, **narrowing)
        return self._reader.answer(scope, context, narrowing.get("as_of"), stream=True)

    def _scope(self, user_id: str | None, shared: bool) -> Scope:
        if shared and user_id is not None:
            raise InvalidInput("shared=True is the tenant's memory, which has no user: leave user_id out.")
        if not shared and user_id is None:
            raise InvalidInput("user_id is required: say whose memory is meant (or shared=True for the tenant's).")
        return Scope(self._settings.tenant, user_id)
