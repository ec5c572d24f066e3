"""A model in ONNX beside its tokenizer, run on the processor: no torch, no network."""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

from pydantic import BaseModel, Field, ValidationError

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.errors import SettingsError, needed
from memgraph_engine.forks import begun, leave

if TYPE_CHECKING:
    import onnxruntime

Form = TypeVar("Form", bound=BaseModel)
Text: TypeAlias = str | tuple[str, str]
Output: TypeAlias = "NDArray[np.float32]"
_LONGEST = 512  # tokens, where nothing says how many a model reads
_LARGE = 1_000_000  # tokens: more is how files write that there is no limit
_GIVEN = ("input_ids", "attention_mask", "token_type_ids")
_POOLED = "sentence_embedding"


class OnnxModel:
    """`model.onnx` (or `onnx/model.onnx`) and `tokenizer.json` of a folder; `purpose` names it in errors.

    A run of the model takes texts of similar length, since all are padded to the longest: at most `batch` texts and,
    padding included, `tokens` tokens. What a run needs grows with its tokens, and onnxruntime keeps the most that it
    ever needed. Of a text it reads `longest` tokens (0: as many as the folder's files say), and cuts the rest off. Safe
    to share between threads.
    """

    def __init__(self, folder: Path, purpose: str, *, batch: int, tokens: int, longest: int = 0) -> None:
        # its wheels report to their maker by default; the variable is read when it is imported
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
        with needed(purpose, "onnx"):
            import onnxruntime
            from tokenizers import Tokenizer
        self._batch, self._tokens = batch, tokens
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS") or 0)  # as torch has it; 0: all cores
        options.enable_mem_pattern = False  # a plan of the memory is kept for each shape, and shapes rarely come twice
        # idle threads of the model sleep: a program that embeds now and then keeps its cores to itself
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        model, tokenizer = (
            _file(folder, purpose, "model.onnx", "onnx/model.onnx"),
            _file(folder, purpose, "tokenizer.json"),
        )
        try:
            self._tokenizer = Tokenizer.from_file(str(tokenizer))
            self._load = partial(onnxruntime.InferenceSession, str(model), options, providers=["CPUExecutionProvider"])
            begun(self, lambda one: leave(vars(one).pop("_session", None)))  # its threads are of one process
            self._inputs = {node.name for node in self._session.get_inputs()}
        except Exception as error:  # both libraries raise whatever they like
            raise SettingsError(f"{purpose} can't be loaded from {folder}: {error}") from error
        self._tokenizer.enable_truncation(longest or _longest(folder, self._tokenizer.truncation))
        self._tokenizer.no_padding()
        if strange := sorted(self._inputs - set(_GIVEN)):
            raise SettingsError(
                f"{purpose} can't be run: {model} wants {strange[0]}, and is given {', '.join(_GIVEN)}."
            )
        outputs = [node.name for node in self._session.get_outputs()]
        self._output = _POOLED if _POOLED in outputs else outputs[0]

    @cached_property
    def _session(self) -> "onnxruntime.InferenceSession":
        return self._load()

    def run(self, texts: Sequence[Text], made: Callable[[Output, "NDArray[np.int64]"], Output]) -> Output:
        """Return a row for each text, or pair of texts, in order.

        `made` makes the rows of a run from what the model gives and from the mask of its tokens, (texts, tokens).
        """
        read = self._read(texts)
        order = sorted(range(len(read)), key=lambda i: len(read[i][0]))
        rows = np.concatenate([made(*self._run(some)) for some in self._runs([read[i] for i in order])])
        back = np.empty_like(rows)
        back[order] = rows
        return back

    def _read(self, texts: Sequence[Text]) -> list[tuple[list[int], list[int]]]:
        """Return the tokens of each text, and of which of a pair each is."""
        if len(texts) == 1:  # without the threads that a batch starts
            first, second = (texts[0], None) if isinstance(texts[0], str) else texts[0]
            one = self._tokenizer.encode(first, second)
            return [(one.ids, one.type_ids)]
        # what the tokenizer tells of a text takes far more room than its tokens, so it is told of a few at a time
        parts = (list(texts[start : start + self._batch]) for start in range(0, len(texts), self._batch))
        return [(one.ids, one.type_ids) for part in parts for one in self._tokenizer.encode_batch(part)]

    def _runs(self, read: list[tuple[list[int], list[int]]]) -> Iterator[list[tuple[list[int], list[int]]]]:
        """Cut texts, shortest first, into runs within both limits; a text alone is run however long it is."""
        start = 0
        for end, (ids, _) in enumerate(read):
            if end > start and (end - start == self._batch or (end - start + 1) * len(ids) > self._tokens):
                yield read[start:end]
                start = end
        yield read[start:]

    def _run(self, read: list[tuple[list[int], list[int]]]) -> tuple[Output, "NDArray[np.int64]"]:
        # padded with 0, whatever a tokenizer pads with: the mask hides it
        given = {name: np.zeros((len(read), max(len(ids) for ids, _ in read)), dtype=np.int64) for name in _GIVEN}
        for row, (ids, kinds) in enumerate(read):
            for name, values in zip(_GIVEN, (ids, [1] * len(ids), kinds), strict=True):
                given[name][row, : len(ids)] = values
        (output,) = self._session.run([self._output], {name: given[name] for name in self._inputs})
        return output, given["attention_mask"]


def onnx_folder(named: str) -> Path | None:
    """Return the folder that `onnx:/FOLDER` names; None for another name.

    >>> onnx_folder("onnx:/models/e5").name, onnx_folder("minilm")
    ('e5', None)
    """
    family, _, folder = named.partition(":")
    return Path(os.path.abspath(Path(folder).expanduser())) if family == "onnx" and folder else None


def _file(folder: Path, purpose: str, *names: str) -> Path:
    """Return the first of these files that the folder has; raises SettingsError."""
    for name in names:
        if (folder / name).is_file():
            return folder / name
    missing = f"the folder has no {' or '.join(names)}" if folder.is_dir() else "there is no such folder"
    raise SettingsError(f"{purpose} can't be loaded from {folder.absolute()}: {missing}.")


def told(folder: Path, name: str, form: type[Form]) -> Form:
    """Return what a JSON file of a model's folder holds, the defaults of its form where there is none.

    Raises SettingsError that says which file, where in it, and what is due there.
    """
    file = folder / name
    try:
        return form.model_validate_json(file.read_bytes()) if file.is_file() else form()
    except OSError as error:
        raise SettingsError(f"{file} can't be read: {error.strerror}.") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = "".join(f"{part}: " for part in first["loc"])
        raise SettingsError(f"{file} can't be read: {place}{first['msg']}.") from None


class _Limits(BaseModel):
    max_seq_length: Annotated[float, Field(ge=0)] | None = None
    model_max_length: Annotated[float, Field(ge=0)] | None = None


def _longest(folder: Path, cut: dict[str, Any] | None) -> int:
    """Return how many tokens a model reads of a text, as its files say; 512 where none does."""
    said = (
        told(folder, "sentence_bert_config.json", _Limits).max_seq_length,
        told(folder, "tokenizer_config.json", _Limits).model_max_length,
        cut and cut["max_length"],
    )
    return next((int(one) for one in said if one and one < _LARGE), _LONGEST)
