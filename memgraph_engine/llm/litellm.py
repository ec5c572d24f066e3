"""Chat models of any provider that LiteLLM speaks to."""

import time
from collections.abc import Iterator, Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any

from memgraph_engine.cost import Cost
from memgraph_engine.errors import ModelError, ModelRefused, ModelUnavailable
from memgraph_engine.llm.tokens import chat_tokens, tokens
from memgraph_engine.model.ports import Message, Reply
from memgraph_engine.providers import brief, load_litellm

_LOST = Cost(calls=1, money=None)  # a request whose answer did not arrive may be on the bill


class LiteLLMChat:
    """A provider's model by LiteLLM's name for it; keys come from LiteLLM's own environment variables.

    `api_base` is the address of a server of one's own, else the provider's.
    """

    def __init__(self, name: str, api_base: str = "") -> None:
        self.name = name
        self._api_base = api_base or None
        self._litellm = load_litellm(f"the chat model {name}")

    def chat(
        self,
        messages: Sequence[Message],
        *,
        temperature: float,
        max_tokens: int,
        timeout: float,
        json_schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Answer in one request; raises ModelUnavailable or ModelRefused."""
        given = self._request(messages, temperature, max_tokens, timeout)
        try:
            response = self._litellm.completion(**given, response_format=self._format(json_schema))
        except Exception as error:  # LiteLLM lets through whatever a provider's code raises
            raise self._translated(error, timeout) from error
        return self._reply(messages, response)

    def chat_stream(
        self, messages: Sequence[Message], *, temperature: float, max_tokens: int, timeout: float
    ) -> Iterator[str | Reply]:
        """Answer in pieces, then as a whole; raises ModelUnavailable, also where the answer broke off."""
        given = self._request(messages, temperature, max_tokens, timeout)
        chunks, stream = [], None
        try:
            stream = self._litellm.completion(**given, stream=True, stream_options={"include_usage": True})
            for chunk in stream:
                chunks.append(chunk)
                if chunk.choices and (piece := chunk.choices[0].delta.content):
                    yield piece
        except Exception as error:
            raise self._translated(error, timeout) from error
        finally:
            _hang_up(stream)
        # LiteLLM ends what a server left open; the server's own word is what counts
        if getattr(stream, "received_finish_reason", "stop") is None:
            raise ModelUnavailable(f"The answer of {self.name} broke off.", _LOST, retry_after=0.0)
        yield self._reply(messages, self._litellm.stream_chunk_builder(chunks))

    def _request(
        self, messages: Sequence[Message], temperature: float, max_tokens: int, timeout: float
    ) -> dict[str, Any]:
        return {
            "model": self.name,
            "messages": [dict(message) for message in messages],
            "temperature": temperature,
            "max_tokens": max_tokens,
            "timeout": timeout,
            "api_base": self._api_base,
            "max_retries": 0,
            "num_retries": 0,
            "drop_params": True,
        }

    def estimate(self, messages: Sequence[Message], max_tokens: int) -> Cost:
        """Return what a call costs whose answer is as long as it may be."""
        counted = self._count(messages)
        return Cost(1, counted, max_tokens, self._price(counted, max_tokens))

    def _format(self, json_schema: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """Ask for the schema where the model knows it, else for JSON, else leave it to the prompt."""
        if json_schema is None:
            return None
        if self._litellm.supports_response_schema(self.name):
            named = {"name": "answer", "strict": True, "schema": dict(json_schema)}
            return {"type": "json_schema", "json_schema": named}
        known = self._litellm.get_supported_openai_params(self.name) or ()
        return {"type": "json_object"} if "response_format" in known else None

    def _reply(self, messages: Sequence[Message], response: Any) -> Reply:
        choice = response.choices[0] if response.choices else None
        text = (choice.message.content if choice else None) or ""
        usage = getattr(response, "usage", None)
        if usage and usage.total_tokens:
            read, written = usage.prompt_tokens, usage.completion_tokens
        else:  # a server that does not count
            read, written = self._count(messages), tokens(text)
        cost = Cost(1, read, written, self._price(read, written, response))
        refusal = _refusal(choice) if choice and not text else None
        if refusal:
            raise ModelRefused(f"{self.name} refused to answer: {refusal}", cost)
        return Reply(text, cost, (choice and choice.finish_reason) or "stop")

    def _price(self, read: int, written: int, response: Any = None) -> float | None:
        """Return US dollars by LiteLLM's table, which knows of discounts for what a provider had cached."""
        try:
            if response is not None and response.usage.total_tokens:
                return float(self._litellm.completion_cost(completion_response=response, model=self.name))
            return float(sum(self._litellm.cost_per_token(self.name, read, written)))
        except Exception:  # noqa: BLE001  no price, in whichever way LiteLLM says so
            return None

    def _count(self, messages: Sequence[Message]) -> int:
        try:
            return int(self._litellm.token_counter(model=self.name, messages=[dict(m) for m in messages]))
        except Exception:  # noqa: BLE001  no tokenizer that works here
            return chat_tokens(messages)

    def _translated(self, error: Exception, timeout: float) -> ModelError:
        """Return our error for LiteLLM's: the only place that knows them."""
        why = f"{self.name}: {brief(error)}"
        keys = self._litellm.validate_environment(self.name) if _headers(error) is None else {}
        if keys and not keys["keys_in_environment"] and keys["missing_keys"]:
            return ModelUnavailable(f"{self.name} needs a key: set {' or '.join(keys['missing_keys'])}.", Cost(calls=1))
        if _never_sent(error):
            where = self._api_base or "its provider"
            return ModelUnavailable(f"{self.name} can't be reached at {where}.", Cost(calls=1), retry_after=0.0)
        if isinstance(error, self._litellm.exceptions.Timeout):
            return ModelUnavailable(f"{self.name} did not answer within {timeout:g} seconds.", _LOST, retry_after=0.0)
        status = getattr(error, "status_code", None) or 500
        if status in (401, 402, 403, 404):
            return ModelUnavailable(why)
        if status in (408, 409, 429) or status >= 500:
            cost = _LOST if _headers(error) is None else Cost(calls=1)
            return ModelUnavailable(why, cost, retry_after=_retry_after(error))
        return ModelRefused(why)


def _hang_up(stream: Any) -> None:
    """End a request that was abandoned. LiteLLM offers no call for it, but most of its clients do."""
    close = getattr(getattr(stream, "completion_stream", None), "close", None)
    if close:
        close()


def _refusal(choice: Any) -> str | None:
    """Return why a model refused to answer, None if it did answer."""
    if choice.finish_reason == "content_filter":
        return "its provider's filter stopped it."
    fields = getattr(choice.message, "provider_specific_fields", None) or {}
    return fields.get("refusal") or getattr(choice.message, "refusal", None)


def _headers(error: Exception) -> Mapping[str, str] | None:
    """Return the headers of the answer, None if there was none."""
    found = getattr(error, "litellm_response_headers", None)
    if found is None:
        found = getattr(getattr(error, "response", None), "headers", None)
    return found or None


def _never_sent(error: BaseException) -> bool:
    from httpx import ConnectError, ConnectTimeout

    return any(isinstance(cause, ConnectError | ConnectTimeout) for cause in _causes(error))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _retry_after(error: Exception) -> float:
    """Return the seconds that the server asks to wait (RFC 9110, section 10.2.3), 0 if it does not say."""
    asked = (_headers(error) or {}).get("retry-after", "")
    try:
        return max(0.0, float(asked))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(asked).timestamp() - time.time())
    except ValueError:
        return 0.0
