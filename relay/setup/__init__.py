"""`relay setup`: asks for what Relay needs, sees whether it is good, and writes `.env`."""
