"""Drives events through windows, element by element and block by block."""
