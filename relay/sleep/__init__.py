"""Nightly work: a backup, memories consolidated, digests of the day, what is owed made ready."""
