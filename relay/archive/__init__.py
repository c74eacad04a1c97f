"""What Relay knows, as files: backups of everything, and exports of one space."""
