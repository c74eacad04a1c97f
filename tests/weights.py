"""Whisper base as openai-whisper loads it (`.pt`), made from CTranslate2's tensors. CTranslate2 keeps query, key and
value of self-attention in one matrix, and key and value of cross-attention in another."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any

TYPES = {0: "float32", 1: "int8", 2: "int16", 3: "int32", 4: "float16"}
"""CTranslate2's numbers for types (`python/ctranslate2/specs/model_spec.py`)."""
LAYER = {
    "self_attention/layer_norm": "attn_ln",
    "attention/layer_norm": "cross_attn_ln",
    "ffn/layer_norm": "mlp_ln",
    "ffn/linear_0": "mlp.0",
    "ffn/linear_1": "mlp.2",
}
ENDS = {"gamma": "weight", "beta": "bias", "weight": "weight", "bias": "bias"}


def convert(model: Path, target: Path) -> None:
    """Writes the checkpoint."""
    import torch

    with model.open("rb") as file:
        found = {name: torch.from_numpy(value) for name, value in variables(file)}
    state: dict[str, Any] = {}
    for name, value in found.items():
        state |= renamed(name, value)
    width, words = state["decoder.token_embedding.weight"].shape[1], state["decoder.token_embedding.weight"].shape[0]
    heads, layers = width // 64, 1 + max(int(n.split(".")[2]) for n in state if n.startswith("decoder.blocks."))
    dims = {
        **{"n_mels": state["encoder.conv1.weight"].shape[1], "n_vocab": words, "n_audio_ctx": 1500, "n_text_ctx": 448},
        **{f"n_{side}_{what}": value for side in ("audio", "text") for what, value in _sizes(width, heads, layers)},
    }
    torch.save({"dims": dims, "model_state_dict": state}, target)


def _sizes(width: int, heads: int, layers: int) -> list[tuple[str, int]]:
    return [("state", width), ("head", heads), ("layer", layers)]


def variables(file: Any) -> Any:
    """Names and NumPy arrays of a `model.bin` (format 6)."""
    import numpy

    def number(form: str) -> int:
        return int(struct.unpack(form, file.read(struct.calcsize(form)))[0])

    def text() -> str:
        return str(file.read(number("<H"))[:-1].decode())

    assert number("<I") == 6
    assert text() == "WhisperSpec"
    number("<I")
    for _ in range(number("<I")):
        name = text()
        shape = [number("<I") for _ in range(number("<B"))]
        kind, size = TYPES[number("<B")], number("<I")
        yield name, numpy.frombuffer(file.read(size), dtype=kind).reshape(shape).copy()


def renamed(name: str, value: Any) -> dict[str, Any]:
    """A CTranslate2 tensor under openai-whisper's names; empty if openai-whisper does not have it."""
    side, _, rest = name.partition("/")
    if re.match(r"layer_\d", rest):
        layer, _, part = rest.removeprefix("layer_").partition("/")
        return {f"{side}.blocks.{layer}.{key}": one for key, one in _of_layer(part, value).items()}
    place, _, end = rest.rpartition("/")
    if place in ("conv1", "conv2"):
        return {f"{side}.{place}.{end}": value}
    if place == "layer_norm":
        return {f"{side}.{'ln_post' if side == 'encoder' else 'ln'}.{ENDS[end]}": value}
    if rest == "embeddings/weight":
        return {f"{side}.token_embedding.weight": value}
    if rest == "position_encodings/encodings":
        return {f"{side}.positional_embedding": value}
    return {}


def _of_layer(part: str, value: Any) -> dict[str, Any]:
    place, _, end = part.rpartition("/")
    if place in LAYER:
        return {f"{LAYER[place]}.{ENDS[end]}": value}
    attention, _, linear = place.partition("/")
    into = {"self_attention": "attn", "attention": "cross_attn"}.get(attention)
    if into is None or end not in ENDS:
        return {}
    pieces = {
        ("attn", "linear_0"): ("query", "key", "value"),
        ("attn", "linear_1"): ("out",),
        ("cross_attn", "linear_0"): ("query",),
        ("cross_attn", "linear_1"): ("key", "value"),
        ("cross_attn", "linear_2"): ("out",),
    }[into, linear]
    parts = zip(pieces, value.chunk(len(pieces)), strict=True)
    # Whisper's keys have no bias; CTranslate2 has zeros instead.
    return {f"{into}.{piece}.{end}": one.clone() for piece, one in parts if (piece, end) != ("key", "bias")}
