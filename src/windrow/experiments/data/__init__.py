"""Events in the shape of the papers' data sets, or the original files if you have them."""
