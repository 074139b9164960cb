"""What an aggregation is: its contract, products of several, and the compiler to kernels."""
