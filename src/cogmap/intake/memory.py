"""How much memory there is, and how much a fit takes at least; so that what cannot succeed is refused before it begins.

Easy to get wrong: an operating system grants memory that it does not have and kills the process later. So what is free
is read from it, with the limits that a container or a shell has set.
"""

import os
from pathlib import Path

from ..errors import TooLargeError

MATRICES, TABLES, CLASS_TABLES = 3, 3, 10
"""What every fit holds at the same time, at least: matrices of concepts by concepts, tables of rows by concepts, and
tables of rows by classes.

Measured with 200 to 20,000 rows, 100 to 2,000 concepts and 10 to 1,000 classes: 3, 18 and 37. Fewer are counted here,
since many concepts share a limited number of innovations.
"""

BLOCK = 30_000
"""More rows than this are never held at once."""

UNITS = {"TB": 10**12, "GB": 10**9, "MB": 10**6, "KB": 10**3}


def available() -> int | None:
    """Return the number of bytes of memory that this process can still have; None where the system does not say."""
    limits = [value for value in (_free(), _group_limit(), _own_limit()) if value is not None]
    return min(limits, default=None)


def _free() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _group_limit(folder: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Return what a container may have beyond what it uses; files that it has cached make way, and do not count."""
    for most, used, detail, cached in (
        ("memory.max", "memory.current", "memory.stat", "file"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat", "total_cache"),
    ):
        try:
            lines = (folder / detail).read_text(encoding="ascii").splitlines()
            cache = next((int(line.split()[1]) for line in lines if line.split()[0] == cached), 0)
            held = int((folder / used).read_text()) - cache
            return max(0, int((folder / most).read_text()) - max(held, 0))
        except (OSError, ValueError):  # there is no such file, or it says "max"
            continue
    return None


def _own_limit() -> int | None:
    """Return what ``ulimit -v`` leaves to this process."""
    try:
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError):
        return None
    return None if most == resource.RLIM_INFINITY else max(0, most - used)


def check_memory(n_rows: int, n_features: int, terms: object = None, n_classes: int = 2) -> None:
    """Raise an error where a fit takes more memory than there is.

    Parameters
    ----------
    n_rows, n_features : int
        Number of rows, and of features that vary.
    terms : int or other, default=None
        Number of linguistic terms of each feature, if it is one number.
    n_classes : int, default=2
        Number of classes.
    """
    n_concepts = n_features * (terms if isinstance(terms, int) else 1)
    tables = min(n_rows, BLOCK) * (TABLES * n_concepts + CLASS_TABLES * n_classes)
    need = 8 * (MATRICES * n_concepts**2 + tables)
    there = available()
    if there is not None and need > there:
        raise TooLargeError(
            f"A network of {n_concepts} concepts and {n_classes} classes takes at least {in_words(need)} of memory, "
            f"and there are {in_words(there)}: use fewer columns or classes."
        )


def in_words(n_bytes: int) -> str:
    """Return an amount of memory as text, such as 2 GB."""
    for name, unit in UNITS.items():
        if n_bytes >= unit:
            return f"{n_bytes / unit:.3g} {name}"
    return f"{n_bytes} bytes"
