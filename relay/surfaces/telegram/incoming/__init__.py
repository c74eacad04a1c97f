"""How updates reach Relay: polls or a webhook."""
