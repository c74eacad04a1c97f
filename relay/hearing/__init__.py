"""Speech to text, in a process of its own (`python -m relay.hearing`) that is loaded once and bounded."""
