"""Contexts over HTTP: projects, sessions, versions, markers, compositions. Field names are those of the product's
documents."""
