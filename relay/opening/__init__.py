"""Reading files that strangers may have made. Each file is opened in a process of its own (`python -m relay.opening`),
with bounds on memory, time and what it may write, and nothing of Relay's settings in its environment."""
