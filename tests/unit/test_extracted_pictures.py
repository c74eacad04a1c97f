"""Pictures are prepared for the model upright, small and without metadata, or clearly refused."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image

from relay.clients.processes.file_extractor import FileExtractor
from relay.core.errors import MediaRefused
from relay.media.extraction import image_tokens
from relay.media.extraction.failure import Unusable
from relay.media.extraction.picture import EDGE, MOST_BYTES, fit_size, work
from relay.media.media_cost import tokens_of
from tests.pictures import (
    CAMERA,
    HEIC,
    KINDS,
    PLACE,
    SVG,
    TGS,
    WEBM,
    animation,
    bomb,
    drawn,
    picture,
    saved,
    with_place,
)
from tests.strategies import damaged, examples

MOST = 50_000_000
EXAMPLES = {kind: picture(kind, 60, 40) for kind in KINDS} | {
    f"moving {kind}": animation(kind, 5, 60, 40) for kind in ("GIF", "WEBP", "PNG")
}
FORBIDDEN = ("exif", "icc_profile", "xmp", "comment", "photoshop", "Software", "dpi")


def seen(content: bytes, most: int = MOST) -> tuple[dict[str, Any], Image.Image]:
    """A picture's description and the picture made. Asserts a format and size that the API accepts, and no metadata."""
    told, (made,) = work(content, most)
    image = Image.open(io.BytesIO(made))
    image.load()
    assert (image.width, image.height) == (told["width"], told["height"])
    assert Image.MIME[str(image.format)] == told["mime"]
    assert told["mime"] in ("image/jpeg", "image/png")
    assert len(made) <= MOST_BYTES
    assert max(image.size) <= EDGE
    assert -(-image.width // 28) * -(-image.height // 28) <= image_tokens.MOST
    assert not image.getexif()
    assert not set(FORBIDDEN) & set(image.info)
    return told, image


@pytest.mark.parametrize("kind", KINDS)
def test_each_picture_format_is_converted(kind: str) -> None:
    told, image = seen(picture(kind, 2000, 1500))
    assert told["width"] < 2000
    assert told["frames"] == 1
    red, green, blue = image.convert("RGB").getpixel((10, 10))
    assert red > 200
    assert max(green, blue) < 60


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF", "AVIF"])
def test_the_location_and_camera_are_removed(kind: str) -> None:
    content = with_place(kind)
    assert CAMERA.encode() in content
    assert PLACE.encode() in content
    seen(content)
    _, (made,) = work(content, MOST)
    assert CAMERA.encode() not in made
    assert PLACE.encode() not in made
    assert b"Exif" not in made


def test_comments_and_colour_profiles_are_removed() -> None:
    _, (made,) = work(picture("JPEG", comment=b"a secret comment", icc_profile=b"secret profile" * 20), MOST)
    assert b"secret" not in made
    from PIL.PngImagePlugin import PngInfo

    info = PngInfo()
    info.add_text("Author", "secret author")
    _, (made,) = work(saved(drawn(mode="P"), "PNG", pnginfo=info), MOST)
    assert b"secret" not in made


@pytest.mark.parametrize(("orientation", "corner"), [(1, (0, 0)), (3, (1, 1)), (6, (1, 0)), (8, (0, 1))])
def test_pictures_are_rotated_upright(orientation: int, corner: tuple[int, int]) -> None:
    _, image = seen(with_place(orientation=orientation))
    assert (image.width > image.height) == (orientation in (1, 3))
    place = tuple(10 if not end else side - 10 for end, side in zip(corner, image.size, strict=True))
    assert image.getpixel(place)[0] > 200
    assert image.getpixel(place)[1] < 60


@pytest.mark.parametrize(
    ("size", "fits"),
    [((1092, 1092), (1092, 1092)), ((800, 600), (800, 600)), ((1, 5000), (1, 1568)), ((1568, 784), (1568, 784))],
)
def test_only_pictures_that_are_too_large_are_shrunk(size: tuple[int, int], fits: tuple[int, int]) -> None:
    assert fit_size(*size) == fits


@given(st.integers(1, 40_000), st.integers(1, 40_000))
def test_any_size_is_fitted_within_the_token_limit(width: int, height: int) -> None:
    small = fit_size(width, height)
    assert max(small) <= EDGE
    assert min(small) >= 1
    assert tokens_of({"type": "image", "file": {}, "width": small[0], "height": small[1]}) <= image_tokens.MOST


def test_drawings_become_png_and_photos_jpeg() -> None:
    few = Image.new("RGB", (400, 300), "white")
    few.paste("black", (10, 10, 200, 200))
    assert seen(saved(few, "PNG"))[0]["mime"] == "image/png"
    assert seen(saved(Image.effect_noise((900, 900), 90).convert("RGB"), "PNG"))[0]["mime"] == "image/jpeg"


@pytest.mark.parametrize(("ink", "ground"), [("black", 255), ("white", 0)])
def test_transparent_pictures_stay_readable(ink: str, ground: int) -> None:
    clear = Image.new("RGBA", (100, 100), (0, 0, 0, 0))
    clear.paste(ink, (40, 40, 60, 60))
    _, image = seen(saved(clear, "PNG"))
    assert image.convert("L").getpixel((5, 5)) == ground
    assert image.convert("L").getpixel((50, 50)) == 255 - ground


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "PA", "RGBA", "CMYK", "YCbCr", "LAB", "I", "F", "I;16"])
def test_all_colour_modes_are_converted(mode: str) -> None:
    made = 0
    for kind in KINDS:
        with contextlib.suppress(OSError, ValueError, KeyError):
            content = saved(Image.new(mode, (70, 50), 0 if mode != "LAB" else (0, 0, 0)), kind)
            seen(content)
            made += 1
    assert made


def test_fine_greys_keep_their_shades() -> None:
    deep = Image.new("I;16", (256, 10))
    deep.putdata([column * 257 for _ in range(10) for column in range(256)])
    _, image = seen(saved(deep, "PNG"))
    shades = [image.convert("L").getpixel((column, 5)) for column in (0, 128, 255)]
    assert shades == sorted(shades)
    assert shades[2] - shades[0] > 240


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_an_animation_becomes_a_grid_of_four_frames(kind: str) -> None:
    told, image = seen(animation(kind))
    assert told["frames"] == 12
    assert image.size == (404, 204)
    blue = [
        image.convert("RGB").getpixel(place)[2] - image.convert("RGB").getpixel(place)[0] > 100
        for place in ((10, 20), (394, 124))
    ]
    assert blue == [True, True], "the first is at the left, the last at the right"


def test_the_pages_of_a_picture_are_counted() -> None:
    pages = saved(drawn(60, 40), "TIFF", save_all=True, append_images=[drawn(60, 40), drawn(60, 40)])
    told, _ = work(pages, max_pixels=MOST)
    assert (told["pages"], told["frames"], told["width"]) == (3, 1, 60)
    assert "pages" not in work(picture("TIFF"), max_pixels=MOST)[0]


def test_a_long_animation_is_read_in_part() -> None:
    told, _ = seen(animation("GIF", 300, 400, 40))
    assert told["frames"] == 300
    told, image = seen(animation("GIF", 8, 200, 100), most=20_000)
    assert told["frames"] == 8
    assert image.size


def test_a_picture_of_too_many_pixels_is_not_decoded() -> None:
    with pytest.raises(Unusable, match=r"30000 × 30000 pixels\. I can take 50 megapixels"):
        work(bomb(), MOST)


@pytest.mark.parametrize(
    ("content", "line"),
    [(HEIC, "HEIC"), (SVG, "PNG"), (TGS, "animated"), (WEBM, "animated"), (b"", "none of them"), (b"%PDF-1.7", "none")],
)
def test_other_files_are_refused_with_advice(content: bytes, line: str) -> None:
    with pytest.raises(Unusable, match=line):
        work(content, MOST)


async def test_a_damaged_picture_is_refused_by_the_process() -> None:
    whole = picture("JPEG", 800, 600)
    with pytest.raises(MediaRefused, match="damaged"):
        await FileExtractor().open("picture", whole[: len(whole) // 2], max_pixels=MOST)
    told, (made,) = await FileExtractor().open("picture", whole, max_pixels=MOST)
    assert told == {"width": 800, "height": 600, "mime": "image/jpeg", "frames": 1}
    assert made[:2] == b"\xff\xd8"


def assert_picture_or_refusal(content: bytes) -> None:
    """Asserts that a result is a picture. Any error is fine, since the process turns it into a refusal."""
    try:
        work(content, MOST)
    except Exception:
        return
    seen(content)


@examples(150)
@given(st.sampled_from(sorted(EXAMPLES)).flatmap(lambda name: damaged(EXAMPLES[name])))
def test_a_damaged_picture_gives_a_picture_or_a_refusal(content: bytes) -> None:
    assert_picture_or_refusal(content)


@examples(100)
@given(st.binary(max_size=400))
@example(b"GIF89a")
@example(b"\x89PNG\r\n\x1a\n")
@example(b"II*\x00\x08\x00\x00\x00")
def test_any_bytes_give_a_picture_or_a_refusal(content: bytes) -> None:
    assert_picture_or_refusal(content)
