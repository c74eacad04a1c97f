"""Texts to vectors. They are made in a process of its own (`python -m relay.embedding`), which loads the model once,
with a bound on memory and nothing of Relay's settings in its environment."""
