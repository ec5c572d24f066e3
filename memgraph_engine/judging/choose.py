"""From the setting `gate.judge` to a judge."""

from memgraph_engine.errors import SettingsError
from memgraph_engine.model.ports import Judge
from memgraph_engine.settings import Settings


def judge_named(settings: Settings) -> Judge | None:
    """Load the judge that the settings name; None if they name none."""
    named = settings.gate.judge
    family, _, model = named.partition("/")
    if not named:
        return None
    if family == "sentence-transformers" and model:
        from memgraph_engine.judging.cross_encoder import CrossEncoderJudge

        return CrossEncoderJudge(model)
    raise SettingsError(
        f"There is no judge {named!r}: set gate.judge to sentence-transformers/MODEL, a cross-encoder for natural "
        "language inference, or give an object of your own to Memory.connect(judge=…)."
    )
