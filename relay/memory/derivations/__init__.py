"""How derived rows were made, and the registry of the kinds of artefacts."""
