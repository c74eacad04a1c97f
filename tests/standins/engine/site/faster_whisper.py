"""Replaces the package; it only loads."""


class WhisperModel:
    def __init__(self, place, **options):
        self.supported_languages = ["en"]
