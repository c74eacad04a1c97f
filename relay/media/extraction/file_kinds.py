"""Extensions of pictures, sounds and videos, and brands of files in boxes (`ftyp`)."""

PICTURES = ("jpg", "jpeg", "png", "gif", "webp", "heic", "heif", "avif", "bmp", "tif", "tiff")
SOUNDS = ("ogg", "oga", "opus", "mp3", "m4a", "aac", "wav", "flac", "amr")
VIDEOS = ("mp4", "m4v", "mov", "mkv", "webm", "avi")
HEIC_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"msf1")
AVIF_BRANDS = (b"avif", b"avis")


def brand_of(content: bytes) -> bytes:
    """Returns the brand of a file in boxes; empty for others."""
    return content[8:12] if content[4:8] == b"ftyp" else b""
