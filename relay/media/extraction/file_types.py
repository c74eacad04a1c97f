"""Detects a file's type from its first bytes, and lists the extensions of each type."""

from __future__ import annotations

import re

from relay.media.extraction.failure import Unusable

PICTURES = ("jpg", "jpeg", "png", "gif", "webp", "heic", "heif", "avif", "bmp", "tif", "tiff")
SOUNDS = ("ogg", "oga", "opus", "mp3", "m4a", "aac", "wav", "flac", "amr")
VIDEOS = ("mp4", "m4v", "mov", "mkv", "webm", "avi")
HEIC_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"msf1")
AVIF_BRANDS = (b"avif", b"avis")

PICTURE, RECORDING = "picture", "recording"
PDF, ZIP, OLE, PLAIN = "pdf", "zip", "ole", "plain"

KNOWN = (
    (b"PK\x03\x04", ZIP),
    (b"PK\x05\x06", ZIP),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", OLE),
    (b"\x89PNG\r\n", PICTURE),
    (b"\xff\xd8\xff", PICTURE),
    (b"GIF87a", PICTURE),
    (b"GIF89a", PICTURE),
    (b"II*\x00", PICTURE),
    (b"MM\x00*", PICTURE),
    (b"OggS", RECORDING),
    *((b"ID3" + version, RECORDING) for version in (b"\2", b"\3", b"\4")),
    (b"fLaC", RECORDING),
    (b"#!AMR", RECORDING),
    (b"\x1aE\xdf\xa3", RECORDING),
)
CONTROLS = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
PACKED = "It's a {kind} archive, which I can't open. Please send it as .zip, or the file itself."
REFUSED = (
    (b"Rar!\x1a\x07", PACKED.format(kind=".rar")),
    (b"7z\xbc\xaf\x27\x1c", PACKED.format(kind=".7z")),
    (b"\x1f\x8b", PACKED.format(kind=".gz")),
    *((b"BZh%d1AY&SY" % size, PACKED.format(kind=".bz2")) for size in range(1, 10)),
    (b"\xfd7zXZ\x00", PACKED.format(kind=".xz")),
    (b"\x28\xb5\x2f\xfd", PACKED.format(kind=".zst")),
    (b"{\\rtf", "It's an RTF document, which I can't open. Please save it as .docx or PDF and send that."),
)
TAR = PACKED.format(kind=".tar")
NAMES = {
    "PDF": ("pdf",),
    "Word document": ("docx", "docm", "dotx"),
    "text document": ("odt",),
    "spreadsheet": ("xlsx", "xlsm", "xls", "xlsb", "ods"),
    "presentation": ("pptx", "pptm", "ppsx", "odp"),
    "book": ("epub",),
    "archive": ("zip",),
}
ENDINGS = {ending: kind for kind, endings in NAMES.items() for ending in endings}


def detect_type(content: bytes) -> str:
    """Returns PDF, ZIP, OLE (old Office files), PICTURE, RECORDING or else PLAIN. Raises `Unusable` for unreadable
    types."""
    head = content[:1024]
    if head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"%PDF-") or (b"%PDF-" in head and b"%%EOF" in content[-2048:]):
        return PDF
    for begin, sort in KNOWN:
        if content.startswith(begin):
            return sort
    for begin, why in REFUSED:
        if content.startswith(begin):
            raise Unusable(why)
    if content[257:262] == b"ustar":
        raise Unusable(TAR)
    if brand := brand_of(content):
        return PICTURE if brand in (*HEIC_BRANDS, *AVIF_BRANDS) else RECORDING
    if content[:4] == b"RIFF":
        return PICTURE if content[8:12] == b"WEBP" else RECORDING
    return RECORDING if _is_raw_sound(content[:4096]) else PLAIN


def brand_of(content: bytes) -> bytes:
    """Returns the brand of a file in boxes; empty for others."""
    return content[8:12] if content[4:8] == b"ftyp" else b""


def _is_raw_sound(head: bytes) -> bool:
    """Tests for MP3 or AAC without a header: a frame's sync word and bytes that no text has (a Russian text can begin
    with the same two). `\\xff\\xfe` is the UTF-16 mark."""
    return head[:1] == b"\xff" and head[1:2] >= b"\xe0" and head[1:2] != b"\xfe" and bool(CONTROLS.search(head))


def describe_mismatch(name: str, kind: str) -> str:
    """Returns a sentence if a name's extension doesn't match the type; else empty."""
    ending = name.rpartition(".")[2].lower()
    promised = ENDINGS.get(ending)
    if promised is None or promised == kind:
        return ""
    article = "an" if kind[0] in "aeio" else "a"
    return f"It's called .{ending}, but it's {article} {kind}."
