"""`relay memory …`: what a person does with their own memory, in the shell. With --json, for programs."""

from relay.memory_commands import change, look, switches, work
from relay.memory_commands.door import memory

__all__ = ["change", "look", "memory", "switches", "work"]
