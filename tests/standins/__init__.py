"""Stand-ins for the outside services, served on loopback."""
