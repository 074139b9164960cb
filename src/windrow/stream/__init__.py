"""Windows over streams: the state of a shard, and what a batch does with it."""
