"""The web app and its API in the shell."""
