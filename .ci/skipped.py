"""Fail if a test was skipped that this machine could have run."""

import os
import shutil
import sys
from xml.etree import ElementTree as ET

AVAILABLE = {
    "COGMAP_DATA": "COGMAP_DATA" in os.environ,
    "chromium": shutil.which("chromium") is not None,
    "Java": shutil.which("java") is not None,
}

reasons = [skip.get("message") or "" for skip in ET.parse(sys.argv[1]).iter("skipped")]
wrong = sorted({r for r in reasons for need, here in AVAILABLE.items() if here and need in r})
for reason in wrong:
    print(f"skipped although this machine has it: {reason}")
sys.exit(bool(wrong))
