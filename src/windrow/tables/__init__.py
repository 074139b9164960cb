"""Kinds of tables: how each is read as Arrow, and how answers become one of the same kind."""
