"""The words with which people say when: one module for each language."""
