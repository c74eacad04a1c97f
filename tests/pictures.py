"""Pictures for tests: every kind that people send, with all the metadata that a camera writes."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

from PIL import Image, ImageDraw

KINDS = ("JPEG", "PNG", "GIF", "WEBP", "AVIF", "BMP", "TIFF")
PLACE = "52 deg 31 min"
CAMERA = "Camera of Ada"
HEIC = b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic" + bytes(200)
SVG = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><rect width="9" height="9"/></svg>'
TGS = b"\x1f\x8b\x08\x00" + bytes(60)
WEBM = b"\x1aE\xdf\xa3" + bytes(60)


def drawn(width: int = 640, height: int = 480, mode: str = "RGB") -> Image.Image:
    """An image with shades: a white, a red and a grey part."""
    image = Image.linear_gradient("L").resize((width, height)).convert("RGB")
    ImageDraw.Draw(image).rectangle((0, 0, width // 3, height // 3), fill="red")
    return image.convert(mode)


def picture(kind: str = "JPEG", width: int = 640, height: int = 480, mode: str = "RGB", **more: Any) -> bytes:
    """A picture file."""
    return saved(drawn(width, height, mode), kind, **more)


def saved(image: Image.Image, kind: str, **more: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **more)
    return file.getvalue()


def with_place(kind: str = "JPEG", orientation: int = 1, **more: Any) -> bytes:
    """A picture whose metadata says where, when and with what it was taken."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010F] = CAMERA
    exif[0x010E] = PLACE
    position = exif.get_ifd(0x8825)
    position[1], position[2] = "N", (52.0, 31.0, 7.0)
    position[3], position[4] = "E", (13.0, 24.0, 37.0)
    return picture(kind, exif=exif.tobytes(), **more)


def animation(kind: str = "GIF", frames: int = 12, width: int = 200, height: int = 100) -> bytes:
    """A square that moves from left to right."""
    cells = []
    for number in range(frames):
        cell = Image.new("RGB", (width, height), "white")
        left = number * (width - 20) // max(1, frames - 1)
        ImageDraw.Draw(cell).rectangle((left, 10, left + 20, 30), fill="blue")
        cells.append(cell)
    return saved(cells[0], kind, save_all=True, append_images=cells[1:], duration=100)


def bomb(side: int = 30_000) -> bytes:
    """A PNG of two kilobytes with huge dimensions. It holds fewer pixels: packing all of them takes three seconds."""
    image = saved(Image.new("1", (4000, 4000)), "PNG")
    header = b"IHDR" + struct.pack(">II", side, side) + image[24:29]
    return image[:12] + header + struct.pack(">I", zlib.crc32(header)) + image[33:]
