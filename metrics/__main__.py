"""`python -m semantic_metrics`: the command line."""

from semantic_metrics.cli import main

if __name__ == "__main__":
    main(prog_name="semantic-metrics")
