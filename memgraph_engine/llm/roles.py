"""Ask the chat model of a role, and check its answer against what was asked."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from copy import copy
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, TypeVar

from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.errors import BudgetSpent, ModelError, ModelUnavailable, SettingsError, Unusable
from memgraph_engine.forks import lock
from memgraph_engine.llm.answers import json_schema
from memgraph_engine.llm.litellm import LiteLLMChat
from memgraph_engine.llm.role import Entry, Request, parse, repair, role as role_of, roles as all_roles
from memgraph_engine.llm.spent import Gauge, Spent
from memgraph_engine.llm.transport import Transport
from memgraph_engine.model.ports import ChatModel, Reply
from memgraph_engine.providers import require_litellm
from memgraph_engine.settings import LlmSettings, RolesSettings

T = TypeVar("T")
A = TypeVar("A", "CheckedAnswer", "TextAnswer")


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """A checked answer, the model that gave it, and its cost with that of all failed attempts.

    `repaired`: the model was shown an error of its first answer.
    """

    items: tuple[Any, ...]
    cost: Cost
    model: str
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class TextAnswer:
    """An answer in free text, the model that gave it, and its cost with that of all failed attempts."""

    text: str
    cost: Cost
    model: str


class Roles:
    """Who asks which chat model. `llm` is a user's own model: it answers for every role, and alone.

    Raises SettingsError for a faulty prompt, and MissingExtra where a role has a model and the extra is missing.

    >>> from memgraph_engine import Settings
    >>> from memgraph_engine.llm.role import role
    >>> from memgraph_engine.testing import ScriptedChat
    >>> chat = ScriptedChat([{"merges": [{"merge": 1, "context": "Ana and Bo live in Porto."}]}])
    >>> roles = Roles(Settings.load().llm, llm=chat)
    >>> answer = roles.ask(role("merging").request([{"texts": ["Ana lives in Porto.", "Bo lives in Porto."]}]))
    >>> answer.items[0].context, answer.cost.calls
    ('Ana and Bo live in Porto.', 1)
    """

    def __init__(
        self, settings: LlmSettings, *, llm: ChatModel | None = None, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._settings = settings
        self._own = None if llm is None else _checked(llm)
        self._transport = Transport(settings.concurrency, sleep)
        self._names = {role: self._models_of(role) for role in RolesSettings.model_fields}
        self._known: dict[str, ChatModel] = {}
        self._lock = lock()
        if self.has_any:  # told now, not in the middle of a write
            all_roles()
            if self._own is None:
                require_litellm(f"the chat model {settings.model}".strip())

    @property
    def has_any(self) -> bool:
        """Whether any role has a model to ask."""
        return any(map(self.has, self._names))

    def has(self, role: str) -> bool:
        """Tell whether the role has a model to ask."""
        return bool(self._names[role])

    def without(self, roles: Collection[str]) -> "Roles":
        """Return the same models for all roles but these, which then have none."""
        others = copy(self)
        others._names = {role: [] if role in roles else names for role, names in self._names.items()}
        return others

    def batches(self, role: str, of: Iterable[T], shown: Callable[[T], Entry]) -> list[list[T]]:
        """Split what a role is asked about into requests, in order, by the setting llm.batch_tokens."""
        return list(role_of(role).batches(of, shown, self._settings.batch_tokens))

    def rounds(self, role: str, of: Iterable[T], shown: Callable[[T], Entry]) -> Iterator[list[list[T]]]:
        """Yield the batches by as many as are asked about at the same time."""
        groups, step = self.batches(role, of, shown), self._settings.concurrency
        for start in range(0, len(groups), step):
            yield groups[start : start + step]

    def ask(self, request: Request, *, meters: Sequence[Gauge] = ()) -> CheckedAnswer:
        """Ask the role's model; show it an error of its answer once; then ask the next model.

        Raises a ModelError with the `cost` of all attempts: BudgetSpent at the first call that could pass a budget;
        where several models failed, Unusable with the reason of each.
        """
        settings = self._settings.of(request.role.setting)

        def attempt(model: ChatModel) -> Iterator[CheckedAnswer]:
            yield self._converse(model, request, settings, meters)

        (answer,) = self._first(request.role.setting, attempt)
        assert isinstance(answer, CheckedAnswer)
        return answer

    def asked(self, request: Request, spent: Spent, part: str) -> CheckedAnswer | None:
        """Ask as `ask` does, and count in `spent` what that cost; None where it fails for a `part`."""
        try:
            answer = self.ask(request, meters=spent.meters)
        except ModelError as error:
            spent.failed(part, error)
            return None
        spent.cost += answer.cost
        return answer

    def ask_many(
        self, requests: Sequence[Request], *, meters: Sequence[Gauge] = ()
    ) -> list[CheckedAnswer | ModelError]:
        """Ask several at the same time; each result stands where its request stood, a failure as its error."""

        def one(request: Request) -> CheckedAnswer | ModelError:
            try:
                return self.ask(request, meters=meters)
            except ModelError as error:
                return error

        if not requests:
            return []
        with ThreadPoolExecutor(min(self._settings.concurrency, len(requests)), "memgraph-engine-llm") as pool:
            here = [copy_context() for _ in requests]  # of the span in which it is asked
            return list(pool.map(Context.run, here, repeat(one), requests))

    def answered(
        self,
        of: Sequence[T],
        request: Callable[[T], Request],
        spent: Spent,
        failed: Callable[[T, ModelError], None] = lambda _one, _error: None,
    ) -> Iterator[tuple[T, CheckedAnswer]]:
        """Ask as `ask_many` does, and yield what each `request` is of, with its answer.

        What failed is not yielded, but told to `failed`, and counted in `spent`, as costs are.
        """
        requests = list(map(request, of))
        answers = self.ask_many(requests, meters=spent.meters)
        spent.beyond = bool(answers) and all(isinstance(one, BudgetSpent | ModelUnavailable) for one in answers)
        for one, asked, answer in zip(of, requests, answers, strict=True):
            if isinstance(answer, ModelError):
                spent.failed(asked.role.setting.capitalize(), answer)
                failed(one, answer)
            else:
                spent.cost += answer.cost
                yield one, answer

    def about(
        self, role: str, of: Iterable[T], shown: Callable[[T], Entry], spent: Spent, **more: Any
    ) -> Iterator[tuple[list[T], CheckedAnswer]]:
        """Ask a role about all of these, as `answered` does, several in a request; `more` are other variables."""
        groups = self.batches(role, of, shown)
        yield from self.answered(groups, lambda group: role_of(role).request(map(shown, group), **more), spent)

    def tell(
        self, request: Request, *, meters: Sequence[Gauge] = (), stream: bool = False
    ) -> Iterator[str | TextAnswer]:
        """Yield the answer of the role's model in free text: with `stream` its pieces first, then the whole.

        The next model is asked as by `ask`, but not after a piece was yielded. Raises as `ask` does.
        """
        settings = self._settings.of(request.role.setting)

        def attempt(model: ChatModel) -> Iterator[str | TextAnswer]:
            for piece in self._transport.tell(model, request.messages, settings, meters, stream=stream):
                if isinstance(piece, Reply):
                    yield _whole(model, piece, settings)
                elif stream:
                    yield piece

        return self._first(request.role.setting, attempt)

    def _first(self, role: str, attempt: Callable[[ChatModel], Iterator[str | A]]) -> Iterator[str | A]:
        """Yield the answer of the first model that gives one, behind its pieces; its cost is that of all attempts."""
        spent, failures, begun = NOTHING, list[ModelError](), False
        for model in map(self._loaded, self._names[role]):
            try:
                for piece in attempt(model):
                    begun = begun or isinstance(piece, str)
                    yield piece if isinstance(piece, str) else replace(piece, cost=spent + piece.cost)
                return
            except ModelError as error:
                spent = error.cost = spent + error.cost
                error.model = model.name
                failures.append(error)
                if begun or isinstance(error, BudgetSpent):
                    raise
        raise _failed(role, failures, spent)

    def _converse(
        self,
        model: ChatModel,
        request: Request,
        settings: LlmSettings,
        meters: Sequence[Gauge],
    ) -> CheckedAnswer:
        messages, schema, cost, wrong = request.messages, json_schema(request.role.form), NOTHING, ""
        for repaired in (False, True):
            try:
                reply = self._transport.send(model, messages, settings, schema, meters)
            except ModelError as error:
                error.cost = cost + error.cost
                raise
            cost += reply.cost
            try:
                return CheckedAnswer(parse(reply.text, request), cost, model.name, repaired)
            except ValueError as fault:
                wrong = str(fault)
            if reply.finish_reason == "length" and not repaired:
                raise Unusable(_cut_off(model, settings), cost)  # it would be cut off again
            messages = repair(messages, reply.text, wrong)
        raise Unusable(
            f"{model.name} gave no usable answer in two tries; in the second it saw the error of the first: {wrong}.",
            cost,
        )

    def _models_of(self, role: str) -> list[str]:
        """Return the role's models, best first. A role set to '' has none, even beside a user's own model."""
        own, settings = self._settings.roles, self._settings.of(role)
        if self._own is not None:
            return [] if getattr(own, role).model == "" else [self._own.name]
        return [settings.model, *settings.fallbacks] if settings.model else []

    def _loaded(self, name: str) -> ChatModel:
        if self._own is not None:
            return self._own
        with self._lock:
            if name not in self._known:
                self._known[name] = chat_named(name, self._settings)
            return self._known[name]


def chat_named(name: str, settings: LlmSettings) -> ChatModel:
    """Return a model by LiteLLM's name; those of the main model's provider share the settings' address.

    Raises MissingExtra.
    """
    ours = not settings.model or _provider(name) == _provider(settings.model)  # others have their own
    return LiteLLMChat(name, settings.api_base if ours else "")


def _provider(name: str) -> str:
    return name.partition("/")[0]


def _checked(given: object) -> ChatModel:
    if not (isinstance(given, ChatModel) and given.name):
        raise SettingsError(f"The chat model {given!r} needs a name (a string) and a method chat(…).")
    return given


def _whole(model: ChatModel, reply: Reply, settings: LlmSettings) -> TextAnswer:
    """Refuse an answer in free text that is empty or was cut off."""
    if reply.finish_reason == "length":
        raise Unusable(_cut_off(model, settings), reply.cost)
    if not reply.text.strip():
        raise Unusable(f"{model.name} gave an empty answer.", reply.cost)
    return TextAnswer(reply.text, reply.cost, model.name)


def _failed(role: str, failures: Sequence[ModelError], cost: Cost) -> ModelError:
    """Return the error of a role whose models all failed."""
    if not failures:
        return ModelUnavailable(f"The role {role} has no model. Set llm.model to have one.", NOTHING)
    if len(failures) == 1:
        return failures[0]
    all_of_them = Unusable(" Then: ".join(map(str, failures)), cost)
    all_of_them.__cause__ = failures[-1]
    all_of_them.model = " and ".join(dict.fromkeys(one.model for one in failures))
    return all_of_them


def _cut_off(model: ChatModel, settings: LlmSettings) -> str:
    return (
        f"The answer of {model.name} was cut off at {settings.max_tokens} tokens: "
        "allow more (llm.max_tokens) or ask about less at once (llm.batch_tokens)."
    )
