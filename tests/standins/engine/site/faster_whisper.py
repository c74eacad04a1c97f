"""In place of the package: only loads."""


class WhisperModel:
    def __init__(self, place, **options):
        self.supported_languages = ["en"]
