"""State as the rows of keys, from which windows of any kind and any aggregation are answered."""
