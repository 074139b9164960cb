"""Live windows: state that stays in one process as windows, ready to go on."""
