"""From plans and data to answers, in this process: tables and sorted batches."""
