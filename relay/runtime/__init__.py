"""The composition root, which makes an open Relay from the settings."""
