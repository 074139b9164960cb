"""From functions to kernels: slots, linking, source, compilation, cache and memory."""
