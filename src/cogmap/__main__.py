"""The command ``cogmap``, also as ``python -m cogmap``; says what to install where the command line is not."""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from .cli import main as commands
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.stderr.write('The command line of cogmap needs more libraries: pip install "cogmap[cli]".\n')
        sys.exit(2)
    commands()


if __name__ == "__main__":
    main()
