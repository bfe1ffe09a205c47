"""The benchmarks of the papers, a folder for each."""
