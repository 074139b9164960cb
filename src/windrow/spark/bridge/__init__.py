"""Between Spark and windrow: schemas, names, columns as Arrow batches, and the workers' Python."""
