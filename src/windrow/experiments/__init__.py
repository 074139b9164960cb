"""The evaluations of the five papers, measured again on this machine: `windrow bench`.

A figure of a paper becomes groups of contestants (`experiment.py`). They take turns, and every
finished group is a few lines of a file (`run.py`, `results.py`). A report shows what the paper
found beside what was measured (`claims.py`, `report/`).
"""
