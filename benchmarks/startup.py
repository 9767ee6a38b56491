"""How long ``cogmap --help`` takes beyond ``import numpy``: heavy imports must be lazy.

Each is run several times in turn, in fresh interpreters; medians are compared.

Run: python benchmarks/startup.py
"""

import statistics
import subprocess
import sys
import time

COMMANDS = {
    "import numpy": "import numpy",
    "cogmap --help": "from cogmap.cli import main; main(['--help'])",
}
REPEATS = 15


def seconds(code):
    """Return the wall time of a fresh interpreter that runs this code."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main():
    """Print both medians and their difference."""
    times = {name: [] for name in COMMANDS}
    for _ in range(REPEATS):
        for name, code in COMMANDS.items():
            times[name].append(seconds(code))
    median = {name: statistics.median(values) for name, values in times.items()}
    for name, value in median.items():
        print(f"{name:<15} {value:.3f} s")
    print(f"{'difference':<15} {median['cogmap --help'] - median['import numpy']:+.3f} s (at most 0.3)")


if __name__ == "__main__":
    main()
