"""State as one partial of each key, for windows that hold all rows of the key so far."""
