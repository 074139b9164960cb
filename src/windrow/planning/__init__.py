"""From what a user asks to a plan: checks, types, choices."""
