"""The conversation itself, settings, voice and usage."""
