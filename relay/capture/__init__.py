"""Automatic capture: what people say is judged afterwards, and what is worth keeping is kept."""
