"""What is said in recordings. They are heard in a process of its own (`python -m relay.hearing`), which loads the model
once, with a bound on memory and nothing of Relay's settings in its environment."""
