"""The composition root: settings become an open Relay."""
