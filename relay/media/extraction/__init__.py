"""Reads files that people sent, in a process without rights: documents, pictures and sounds."""
