"""Draws the usage chart. Imported only when needed, because it loads Pillow."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from datetime import date

from PIL import Image, ImageDraw, ImageFont

from relay.commands.session.usage import Used
from relay.core.text import format_tokens

WIDTH, HEIGHT = 800, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 60, 56, 44
"""Space around the plot, in pixels."""
# One light card for both themes: the ink stands out from the paper in a white and in a dark chat.
PAPER, INK, GRID = "#F5F6F8", "#1F2933", "#D5DAE1"
BAR, LINE = "#2F6FDE", "#D9480F"


def usage_chart(days: Sequence[date], used: Sequence[Used]) -> bytes:
    """Draws a PNG of 800×400: cost by day as bars (tokens if no price is known), the cache's share as a line."""
    priced = any(day.spent for day in used)
    heights = [day.spent if priced else float(day.asked + day.output) for day in used]
    top = round_up(max(heights, default=0.0))
    image = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    draw = ImageDraw.Draw(image)
    _axes(draw, top, priced)
    step = (WIDTH - LEFT - RIGHT) / max(1, len(days))
    centres = [LEFT + step * (number + 0.5) for number in range(len(days))]
    for centre, height in zip(centres, heights, strict=True):
        if height > 0:
            half = max(1.0, step * 0.34)
            draw.rectangle((centre - half, min(_y(height / top), _y(0) - 1), centre + half, _y(0)), fill=BAR)
    _share(draw, centres, [day.share for day in used])
    _days(draw, centres, days)
    png = io.BytesIO()
    image.save(png, "PNG", optimize=True)
    return png.getvalue()


def round_up(highest: float) -> float:
    """Returns a round number at or above the highest value."""
    if highest <= 0:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(highest))
    return next(unit * factor for factor in (1, 2, 4, 6, 8, 10) if unit * factor >= highest * 0.999)


def _y(part: float) -> float:
    """Converts a part (0–1) of the plot's height to a pixel row."""
    return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)


def _font(size: int) -> ImageFont.ImageFont | ImageFont.FreeTypeFont:
    return ImageFont.load_default(size)


def _axes(draw: ImageDraw.ImageDraw, top: float, priced: bool) -> None:
    """Draws the grid, its labels on both sides, and the legend."""
    for quarter in range(5):
        part = quarter / 4
        draw.line((LEFT, _y(part), WIDTH - RIGHT, _y(part)), fill=INK if quarter == 0 else GRID, width=1)
        draw.text((LEFT - 8, _y(part)), _amount(top * part, top, priced), fill=INK, font=_font(14), anchor="rm")
        draw.text((WIDTH - RIGHT + 8, _y(part)), f"{25 * quarter}%", fill=LINE, font=_font(14), anchor="lm")
    draw.rectangle((LEFT, 20, LEFT + 14, 34), fill=BAR)
    first = "cost by day" if priced else "tokens by day"
    draw.text((LEFT + 22, 27), first, fill=INK, font=_font(16), anchor="lm")
    after = LEFT + 22 + draw.textlength(first, font=_font(16)) + 28
    draw.line((after, 27, after + 26, 27), fill=LINE, width=3)
    draw.ellipse((after + 9, 23, after + 17, 31), fill=LINE)
    draw.text((after + 34, 27), "read from the cache", fill=INK, font=_font(16), anchor="lm")


def _amount(value: float, top: float, priced: bool) -> str:
    """Formats a value on the left axis."""
    if priced:
        decimals = next((number for number in range(6) if math.isclose(round(top / 4, number), top / 4)), 6)
        return f"${value:,.{decimals}f}"
    return format_tokens(value, beside=top)


def _share(draw: ImageDraw.ImageDraw, centres: Sequence[float], shares: Sequence[float | None]) -> None:
    """Draws the cache's share: a dot for each day that has one, joined by a line."""
    dots = [(x, _y(share)) for x, share in zip(centres, shares, strict=True) if share is not None]
    if len(dots) > 1:
        draw.line(dots, fill=LINE, width=3, joint="curve")
    for x, y in dots:
        draw.ellipse((x - 4, y - 4, x + 4, y + 4), fill=LINE, outline=PAPER)


def _days(draw: ImageDraw.ImageDraw, centres: Sequence[float], days: Sequence[date]) -> None:
    """Writes dates under the plot, as many as fit, always including today."""
    every = max(1, math.ceil(len(days) / 14))
    for number, (x, day) in enumerate(zip(centres, days, strict=True)):
        if (len(days) - 1 - number) % every == 0:
            draw.text((x, HEIGHT - BOTTOM + 10), f"{day:%m-%d}", fill=INK, font=_font(13), anchor="mt")
