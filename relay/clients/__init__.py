"""One module for each external service; it translates its API and errors into the terms of `relay.core.ports`."""
