"""State as partials of slices of time: a tree of maps from key to partial."""
