"""One module per outside service: each translates its vendor into the terms of `relay.core.ports`."""
