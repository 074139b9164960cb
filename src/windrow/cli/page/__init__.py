"""The page that `windrow watch` serves: what a query's files tell, and how it looks."""
