"""A window as a data structure: `wr.Window`, `wr.in_order`, and windows in stores."""
