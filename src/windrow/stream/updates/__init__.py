"""Answers before they are final, and their revisions."""
