"""`over` and `slide` on streaming DataFrames."""
