"""Windows over streams: what a shard of keys keeps between two batches, and how it moves on."""
