"""What Relay listens to over HTTP: pages that tell whether it is well, and what Telegram delivers."""
