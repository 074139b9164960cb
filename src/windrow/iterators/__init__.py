"""Windows over iterators: a stream in one process, without Spark."""
