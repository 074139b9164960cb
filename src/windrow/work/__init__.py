"""How work is cut: pieces for threads, pieces for Ctrl-C, first rooms."""
