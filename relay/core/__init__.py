"""Values, errors, ports and settings that everything else builds on. Imports nothing from the rest of Relay."""
