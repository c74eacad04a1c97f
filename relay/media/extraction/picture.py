"""Prepares a picture for the model: upright, small enough, and without metadata."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from typing import Any

from PIL import (  # importing a plugin registers its format
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
from relay.media.extraction.file_types import HEIC_BRANDS, brand_of

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
"""The longest edge in pixels that the model uses; it scales larger pictures down itself."""
MOST_BYTES = 1_000_000
FEW_COLOURS = 256
FRAMES_SHOWN, FRAMES_READ = 4, 100
GAP = 4
LIGHT = 200

UNKNOWN = "I can look at JPEG, PNG, GIF, WebP, AVIF, TIFF and BMP pictures, and this is none of them."
HEIC = "I can't open HEIC pictures. Send it as a photo instead of a file: then Telegram makes a JPEG of it."
SVG = "I can't open SVG drawings. Please send it as a PNG."
MOVING = "I can't look at animated stickers of this kind."


def work(content: bytes, max_pixels: int) -> tuple[dict[str, Any], list[bytes]]:
    """Returns the picture and `{width, height, mime, frames}`: its size for the model, and the number of frames of an
    animation (else 1); `pages` if it has several. An animation is shown as four frames side by side.

    Raises `Unusable` for more than `max_pixels`, or if it is not a picture.
    """
    Image.MAX_IMAGE_PIXELS = None  # we raise a clearer error below
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    with open_picture(content) as image:
        width, height = image.size
        if width * height > max_pixels:
            most = max_pixels // 1_000_000
            raise Unusable(f"It's too large: {width} × {height} pixels. I can take {most} megapixels.")
        frames = count_frames(image) if image.format in ANIMATED else 1
        pages = count_frames(image) if image.format == "TIFF" else 1
        picture = arrange_frames(image, frames, max_pixels) if frames > 1 else prepare_still(image)
    made, mime = encode(picture)
    told = {"width": picture.width, "height": picture.height, "mime": mime, "frames": frames}
    return told | ({"pages": pages} if pages > 1 else {}), [made]


def open_picture(content: bytes) -> Image.Image:
    """Opens the picture without decoding it. Detects its format by its first bytes, not its name."""
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


def count_frames(image: Image.Image) -> int:
    """Returns the number of frames or pages; 1 if it is unreadable."""
    try:
        return max(1, int(getattr(image, "n_frames", 1)))
    except (OSError, EOFError, SyntaxError, ValueError):
        return 1


def prepare_still(image: Image.Image) -> Image.Image:
    """Returns a still picture, upright and scaled down."""
    if image.format in ("JPEG", "MPO"):
        image.draft("RGB", (2 * EDGE, 2 * EDGE))  # a JPEG can be decoded at a fraction of its size
    image.load()
    return scale(flatten(rotate_upright(image)))


def rotate_upright(image: Image.Image) -> Image.Image:
    """Returns a picture rotated as its EXIF data says, if that is readable."""
    try:
        return ImageOps.exif_transpose(image)
    except Exception:  # a parser of untrusted data; the picture itself is fine
        return image


def flatten(image: Image.Image) -> Image.Image:
    """Returns the pixels in colour or grey. Transparent pictures get a white background, or a black one if they are
    light."""
    if image.mode in ("1", "L", "RGB"):
        return strip_metadata(image)
    if image.mode.startswith(("I", "F")):
        return strip_metadata(reduce_to_eight_bits(image))
    if not image.has_transparency_data:
        return strip_metadata(image.convert("RGB"))
    seen = image.convert("RGBA")
    alpha = seen.getchannel("A")
    light = sum(ImageStat.Stat(seen.convert("L"), mask=alpha).mean) > LIGHT if alpha.getextrema()[1] else False
    ground = Image.new("RGB", seen.size, "black" if light else "white")
    ground.paste(seen, mask=alpha)
    return ground


def reduce_to_eight_bits(image: Image.Image) -> Image.Image:
    """Reduces a picture with finer greys to 256 levels."""
    values = image.convert("F")
    extremes = values.getextrema()
    low, high = float(extremes[0]), float(extremes[1])  # type: ignore[arg-type]
    scale = 255 / (high - low) if high > low else 0.0
    return values.point(lambda value: value * scale - low * scale).convert("L")


def strip_metadata(image: Image.Image) -> Image.Image:
    """Removes a picture's metadata: place, camera, comments, profiles."""
    image.info = {}
    return image.convert("L") if image.mode == "1" else image


def scale(image: Image.Image) -> Image.Image:
    """Scales a picture to what the model uses, keeping its proportions."""
    size = fit_size(*image.size)
    return image if size == image.size else image.resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)


def fit_size(width: int, height: int) -> tuple[int, int]:
    """Returns the largest size with these proportions that the model uses."""
    share = min(1.0, EDGE / max(width, height))
    while True:
        size = max(1, int(width * share)), max(1, int(height * share))
        if image_tokens.patches(*size) <= image_tokens.MOST:
            return size
        share *= 0.99


def arrange_frames(image: Image.Image, frames: int, max_pixels: int) -> Image.Image:
    """Arranges some frames of an animation from left to right and top to bottom."""
    cells = list(sample_frames(image, frames, max_pixels))
    if len(cells) == 1:
        return scale(cells[0])
    width, height = cells[0].size
    whole = Image.new("RGB", (2 * width + GAP, -(-len(cells) // 2) * (height + GAP) - GAP), "white")
    for place, cell in enumerate(cells):
        whole.paste(cell, (place % 2 * (width + GAP), place // 2 * (height + GAP)))
    return scale(whole)


def sample_frames(image: Image.Image, frames: int, max_pixels: int) -> Iterator[Image.Image]:
    """Yields frames from the beginning to the end of an animation, or to the read limit. Stops at a damaged frame."""
    width, height = image.size
    last = min(frames, FRAMES_READ, max(1, 4 * max_pixels // (width * height))) - 1
    cell = fit_size(2 * width, 2 * height)
    size = max(1, min(width, cell[0] // 2)), max(1, min(height, cell[1] // 2))
    for number in sorted({last * step // (FRAMES_SHOWN - 1) for step in range(FRAMES_SHOWN)}):
        try:
            image.seek(number)
            image.load()
        except (OSError, EOFError, SyntaxError, ValueError):
            if number == 0:
                raise
            return
        yield flatten(image.copy()).convert("RGB").resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)


def encode(image: Image.Image) -> tuple[bytes, str]:
    """Encodes the picture and returns its type: PNG if it has few colours, so that edges stay sharp, else JPEG."""
    if image.getcolors(FEW_COLOURS) is not None:
        made = save(image, "PNG", optimize=True)
        if len(made) <= MOST_BYTES:
            return made, "image/png"
    for quality in (85, 70, 50):
        made = save(image, "JPEG", quality=quality)
        if len(made) <= MOST_BYTES:
            break
    return made, "image/jpeg"


def save(image: Image.Image, kind: str, **options: Any) -> bytes:
    file = io.BytesIO()
    with contextlib.closing(file):
        image.save(file, kind, **options)
        return file.getvalue()
