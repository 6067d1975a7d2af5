"""How a report is written: HTML, LaTeX, Markdown, CSV; formats compute nothing."""
