"""What must not be stored or logged: secrets are taken out of texts."""
