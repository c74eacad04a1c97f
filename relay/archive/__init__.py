"""Relay's data as files: backups of everything, and exports of one space."""
