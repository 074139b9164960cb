"""`over` and `slide` on batch DataFrames."""
