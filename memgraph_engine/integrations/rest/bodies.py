"""What requests hold: the arguments of Memory's methods, as JSON. What each means is said there."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from memgraph_engine.interface.defaults import BLOCKS, CLAIMS, MOST, TOP_K

_MOST_MESSAGES = 1000

_TEXTS = {"type": "array", "items": {"type": "string"}}
Message = Annotated[
    str | dict[str, Any],
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {
                    "type": "object",
                    "description": "A message: its text, and what is known of it; or one as chat APIs give it.",
                    "properties": {
                        "text": {"type": "string"},
                        "id": {"type": "string", "description": "By it a message is known again."},
                        "speaker": {"type": "string"},
                        "role": {"type": "string", "description": "user, assistant, system or tool."},
                        "agent": {"type": "string"},
                        "session": {"type": "string"},
                        "time": {"type": "string", "description": "When it was said, ISO 8601."},
                        "tags": _TEXTS,
                        "metadata": {"type": "object"},
                        "caption": {"type": "string", "description": "Of an image."},
                        "kind": {"enum": ["message", "document", "code", "api_result"]},
                        "policy": {"type": "string", "description": "How long it lives: a class of the policies."},
                        "expires": {"type": "string", "description": "After which it can't be read, ISO 8601."},
                        "content": {"description": "The text as chat APIs give it: a string, or a list of parts."},
                        "name": {"type": "string"},
                    },
                },
            ]
        }
    ),
]
Number = Annotated[int, Field(ge=1, le=MOST)]


class Body(BaseModel):
    """The body of a request: no field beside those that there are, and no value of another type."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    def given(self) -> dict[str, Any]:
        """Return what was given, as arguments of a method."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class Filters(Body):
    """What narrows notes down."""

    session: str | None = None
    speaker: str | None = None
    role: str | None = None
    agent: str | None = None
    kind: str | None = Field(None, description="message, document, code or api_result.")
    since: str | None = Field(None, description="Said then or later, ISO 8601.")
    until: str | None = Field(None, description="Said then or before, ISO 8601.")
    tags: list[str] = Field([], description="The note has all of them.")
    metadata: dict[str, Any] | None = Field(None, description="The note has all of these entries.")
    as_of: str | None = Field(None, description="What was true in the world then.")
    known_at: str | None = Field(None, description="What the memory held then.")
    min_similarity: float | None = Field(None, description="-1 to 1.")
    include: list[str] = Field([], description="Also notes of these policies, which are shown only if asked for.")
    archived: bool = Field(default=False, description="Also notes that a summary stands for.")


class Question(Filters):
    """What is asked, and of which notes."""

    question: str
    top_k: Number = TOP_K
    history: str | list[Message] = Field([], description="The turns before the question, or the session they are in.")


class SearchBody(Question):
    """What `search` takes."""

    rounds: int | None = Field(None, ge=1, le=3)
    explain: bool = False


class AskBody(Question):
    """What `answer` takes."""

    budget: int | None = Field(None, description="The most tokens of the context, 200 or more.")


class ContextBody(AskBody):
    """What `context` takes."""

    by: Literal["notes", "blocks"] = "notes"
    claims: bool = False


class PromptBody(Body):
    """What `prompt` takes."""

    question: str
    session: str = ""
    system: str = ""
    window: int | None = None
    top_k: Number = TOP_K
    include: list[str] = []


class NearestBody(Body):
    """What `blocks` takes."""

    question: str
    k: Number = BLOCKS


class AboutBody(Body):
    """What `claims` takes."""

    about: str | None = None
    k: Number = CLAIMS


class AddBody(Body):
    """What `add` takes."""

    message: Message
    wait: bool = Field(default=True, description="False: store it, and let a worker construct its note later.")
    shown: list[str] | None = Field(None, description="What the model was shown: lines of a context.")


class AddManyBody(Body):
    """What `add_many` takes."""

    messages: Annotated[list[Message], Field(max_length=_MOST_MESSAGES)]
    wait: bool = True
    shown: list[str] | None = None


class ProcessBody(Body):
    """What `process` takes."""

    limit: Number | None = None


class TextBody(Body):
    """What `update` takes."""

    text: str


class TieBody(Body):
    """What `untie` takes."""

    note: str
    other: str


class AttributeBody(Body):
    """What `set_profile` takes."""

    name: str
    value: str | None = Field(description="Null ends what it has by this name.")
    subject: str = ""


class PolicyBody(Body):
    """What `set_policy` takes."""

    policy: str


class OutcomeBody(Body):
    """What `reflect` takes."""

    question: str
    shown: list[str] = Field(description="The ids of the notes that were shown, the best first.")
    answer: str


class MeantBody(Body):
    """What `forget` takes."""

    session: str | None = None
    source: str | list[str] | None = None
    before: str | None = Field(None, description="Said before then, ISO 8601.")
    query: str | None = Field(None, description="What holds all of these words.")
    policy: str | None = None
    near: bool = Field(default=False, description="Take what is near to the query too.")
    keep: str | list[str] = []
    everything: bool = False


class ConfirmedBody(Body):
    """What `erase` takes."""

    plan: str = Field(description="The id of the plan that `forget` made.")


class ReasonBody(Body):
    """What `hold` takes."""

    reason: str
    session: str | None = None
    source: str | None = None
