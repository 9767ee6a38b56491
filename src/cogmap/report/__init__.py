"""A report about one model: computed facts, then one HTML file that shows them, without any other file or network.

Easy to get wrong: all text comes from data. A column may be called ``<script>``; nothing but the template is markup.

Read `subject` (what it is about), `facts` with the modules that each compute a part, `words`, `page`.
"""

from .facts import report_facts
from .page import to_html, write_report

__all__ = ["report_facts", "to_html", "write_report"]
