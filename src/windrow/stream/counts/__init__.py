"""State as counted rows with partials beside them, for windows of rows."""
