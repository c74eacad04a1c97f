"""`relay setup`: its questions."""
