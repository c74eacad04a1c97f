"""`relay memory …`: what a person does with their own memory, in the shell. With --json, for programs."""

from relay.surfaces.cli.memory import change, look, switches, work
from relay.surfaces.cli.memory.door import memory

__all__ = ["change", "look", "memory", "switches", "work"]
