"""A memory as a context provider of Microsoft's Agent Framework (docs/agent-framework.md)."""

import asyncio
from collections.abc import Sequence
from typing import Any

from memgraph_engine.client import Memory
from memgraph_engine.errors import needed

with needed("A context provider of the Agent Framework", "agent-framework"):
    from agent_framework import AgentSession, ContextProvider, Message, SessionContext, SupportsAgentRun

_SHOWN = "shown"  # in the provider's state: what the model was shown for the turn that is running


class MemgraphContextProvider(ContextProvider):
    """Tells an agent what a user's memory holds on each turn, and remembers what is said in it.

    Before a run, a context of the user's last message, with the turns before it to tell what it refers to, joins the
    instructions. After it the user's messages and the agent's are remembered, but for what only repeats that context.
    """

    def __init__(
        self, memory: Memory, user_id: str, *, budget: int | None = None, source_id: str = "memgraph-engine"
    ) -> None:
        super().__init__(source_id)
        self.memory, self.user_id, self.budget = memory, user_id, budget

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,  # noqa: ARG002
        session: AgentSession,  # noqa: ARG002
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Give the agent what is known on what the user says."""
        said = [one for one in context.input_messages if one.role == "user" and one.text]
        state[_SHOWN] = []
        if said:
            before = [{"role": one.role, "content": one.text} for one in self._spoken(context.get_messages())]
            found = await asyncio.to_thread(
                self.memory.context, said[-1].text, user_id=self.user_id, budget=self.budget, history=before
            )
            state[_SHOWN] = list(found.shown)
            if found.text:
                context.extend_instructions(self.source_id, found.text)

    async def after_run(
        self,
        *,
        agent: SupportsAgentRun,  # noqa: ARG002
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Remember what was said."""
        answered = context.response.messages if context.response else []
        messages = [
            {"role": one.role, "content": one.text, "session": session.session_id}
            | ({"agent": one.author_name} if one.role == "assistant" and one.author_name else {})
            for one in self._spoken([*context.input_messages, *answered])
        ]
        shown = state.pop(_SHOWN, [])
        await asyncio.to_thread(self.memory.add_many, messages, user_id=self.user_id, shown=shown)

    def _spoken(self, messages: Sequence[Message]) -> list[Message]:
        gate = self.memory.engine.settings.gate
        return [one for one in messages if one.text and gate.noted(one.role)]
