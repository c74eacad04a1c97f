"""A picture as the model is to see it: upright, small enough, and nothing in it but its pixels."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from typing import Any

from PIL import (  # the plugins as well: each makes its format known when it is imported
    AvifImagePlugin,
    BmpImagePlugin,
    GifImagePlugin,
    Image,
    ImageFile,
    ImageOps,
    ImageStat,
    JpegImagePlugin,
    PngImagePlugin,
    TiffImagePlugin,
    UnidentifiedImageError,
    WebPImagePlugin,
)

from relay.media.extraction import image_tokens
from relay.media.extraction.failure import Unusable
from relay.media.extraction.file_kinds import HEIC_BRANDS, brand_of

FORMATS = (
    JpegImagePlugin.JpegImageFile.format,
    PngImagePlugin.PngImageFile.format,
    GifImagePlugin.GifImageFile.format,
    WebPImagePlugin.WebPImageFile.format,
    AvifImagePlugin.AvifImageFile.format,
    BmpImagePlugin.BmpImageFile.format,
    TiffImagePlugin.TiffImageFile.format,
)
ANIMATED = ("PNG", "GIF", "WEBP", "AVIF")
EDGE = 1568
"""Pixels of the long edge that the model uses, and beyond which it would scale a picture down itself."""
MOST_BYTES = 1_000_000
FEW_COLOURS = 256
FRAMES_SHOWN, FRAMES_READ = 4, 100
GAP = 4
LIGHT = 200

UNKNOWN = "I can look at JPEG, PNG, GIF, WebP, AVIF, TIFF and BMP pictures, and this is none of them."
HEIC = "I cannot open HEIC pictures. Send it as a photo instead of a file: then Telegram makes a JPEG of it."
SVG = "An SVG is a drawing in words, which I do not open. Send it as a PNG."
MOVING = "I cannot look at animated stickers of this kind."


def work(content: bytes, max_pixels: int) -> tuple[dict[str, Any], list[bytes]]:
    """The picture, and `{width, height, mime, frames}`: its size as the model sees it, and of how many pictures an
    animation is made (1: it is none). Of an animation four stand beside each other.

    Raises `Unusable` for what has more than `max_pixels` and for what is no picture.
    """
    Image.MAX_IMAGE_PIXELS = None  # ours is told better
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    with opened(content) as image:
        width, height = image.size
        if width * height > max_pixels:
            most = max_pixels // 1_000_000
            raise Unusable(f"It is too large: {width} × {height} pixels. I can take {most} megapixels.")
        frames = frames_of(image)
        picture = strip(image, frames, max_pixels) if frames > 1 else single(image)
    made, mime = encoded(picture)
    return {"width": picture.width, "height": picture.height, "mime": mime, "frames": frames}, [made]


def opened(content: bytes) -> Image.Image:
    """The picture, not decoded yet; what stands in its first bytes counts, not what it is called."""
    try:
        return Image.open(io.BytesIO(content), formats=FORMATS)
    except UnidentifiedImageError:
        head = content[:2000]
        if brand_of(head) in HEIC_BRANDS:
            raise Unusable(HEIC) from None
        if b"<svg" in head.lower():
            raise Unusable(SVG) from None
        if head[:2] == b"\x1f\x8b" or head[:4] == b"\x1aE\xdf\xa3":
            raise Unusable(MOVING) from None
        raise Unusable(UNKNOWN) from None


def frames_of(image: Image.Image) -> int:
    """How many pictures an animation has; 1 for all others."""
    if image.format not in ANIMATED:
        return 1
    try:
        return max(1, int(getattr(image, "n_frames", 1)))
    except (OSError, EOFError, SyntaxError, ValueError):
        return 1


def single(image: Image.Image) -> Image.Image:
    """A still picture, upright and scaled down."""
    if image.format in ("JPEG", "MPO"):
        image.draft("RGB", (2 * EDGE, 2 * EDGE))  # a JPEG can be decoded at a fraction of its size
    image.load()
    return scaled(plain(upright(image)))


def upright(image: Image.Image) -> Image.Image:
    """Turned as its EXIF data says, where that can be read."""
    try:
        return ImageOps.exif_transpose(image)
    except Exception:  # a parser of strangers' data; the picture itself is well
        return image


def plain(image: Image.Image) -> Image.Image:
    """The pixels alone, in colours or grey; transparent ones on white, or on black where what is seen is light."""
    if image.mode in ("1", "L", "RGB"):
        return bare(image)
    if image.mode.startswith(("I", "F")):
        return bare(eight_bits(image))
    if not image.has_transparency_data:
        return bare(image.convert("RGB"))
    seen = image.convert("RGBA")
    alpha = seen.getchannel("A")
    light = sum(ImageStat.Stat(seen.convert("L"), mask=alpha).mean) > LIGHT if alpha.getextrema()[1] else False
    ground = Image.new("RGB", seen.size, "black" if light else "white")
    ground.paste(seen, mask=alpha)
    return ground


def eight_bits(image: Image.Image) -> Image.Image:
    """A picture of finer greys in 256 of them."""
    values = image.convert("F")
    extremes = values.getextrema()
    low, high = float(extremes[0]), float(extremes[1])  # type: ignore[arg-type]
    scale = 255 / (high - low) if high > low else 0.0
    return values.point(lambda value: value * scale - low * scale).convert("L")


def bare(image: Image.Image) -> Image.Image:
    """A picture without all that its file said beside the pixels: place, camera, comments, profiles."""
    image.info = {}
    return image.convert("L") if image.mode == "1" else image


def scaled(image: Image.Image) -> Image.Image:
    """Within what the model uses, its proportions kept."""
    size = fitting(*image.size)
    return image if size == image.size else image.resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)


def fitting(width: int, height: int) -> tuple[int, int]:
    """The largest size of these proportions that the model uses."""
    share = min(1.0, EDGE / max(width, height))
    while True:
        size = max(1, int(width * share)), max(1, int(height * share))
        if image_tokens.patches(*size) <= image_tokens.MOST:
            return size
        share *= 0.99


def strip(image: Image.Image, frames: int, max_pixels: int) -> Image.Image:
    """Some pictures of an animation, from left to right and top to bottom."""
    cells = list(some_frames(image, frames, max_pixels))
    if len(cells) == 1:
        return scaled(cells[0])
    width, height = cells[0].size
    whole = Image.new("RGB", (2 * width + GAP, -(-len(cells) // 2) * (height + GAP) - GAP), "white")
    for place, cell in enumerate(cells):
        whole.paste(cell, (place % 2 * (width + GAP), place // 2 * (height + GAP)))
    return scaled(whole)


def some_frames(image: Image.Image, frames: int, max_pixels: int) -> Iterator[Image.Image]:
    """Pictures from the beginning to the end of an animation, or as far as is read; one that is damaged ends it."""
    width, height = image.size
    last = min(frames, FRAMES_READ, max(1, 4 * max_pixels // (width * height))) - 1
    cell = fitting(2 * width, 2 * height)
    size = max(1, min(width, cell[0] // 2)), max(1, min(height, cell[1] // 2))
    for number in sorted({last * step // (FRAMES_SHOWN - 1) for step in range(FRAMES_SHOWN)}):
        try:
            image.seek(number)
            image.load()
        except (OSError, EOFError, SyntaxError, ValueError):
            if number == 0:
                raise
            return
        yield plain(image.copy()).convert("RGB").resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)


def encoded(image: Image.Image) -> tuple[bytes, str]:
    """A file of the picture and its type: a PNG of what has few colours, so that its edges stay sharp, else a JPEG."""
    if image.getcolors(FEW_COLOURS) is not None:
        made = saved(image, "PNG", optimize=True)
        if len(made) <= MOST_BYTES:
            return made, "image/png"
    for quality in (85, 70, 50):
        made = saved(image, "JPEG", quality=quality)
        if len(made) <= MOST_BYTES:
            break
    return made, "image/jpeg"


def saved(image: Image.Image, kind: str, **options: Any) -> bytes:
    file = io.BytesIO()
    with contextlib.closing(file):
        image.save(file, kind, **options)
        return file.getvalue()
