"""Training data: configs and states of runs, the rows that configs name, and commands that make more rows."""
