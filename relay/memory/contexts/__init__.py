"""The library of sessions: markers, compressed versions, compositions."""
