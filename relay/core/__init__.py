"""What everything else is built on: values, errors, ports, settings. It imports nothing of Relay."""
