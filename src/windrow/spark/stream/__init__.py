"""windrow on Structured Streaming."""
