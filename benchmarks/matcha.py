"""Where the MATCHA benchmark was before `python -m benchmarks`: says what to type now."""

import shlex
import sys

if __name__ == "__main__":
    sys.exit(f"python -m benchmarks.matcha: type python -m benchmarks {shlex.join(['matcha', *sys.argv[1:]])}")
