"""In place of PyAV: only there."""
