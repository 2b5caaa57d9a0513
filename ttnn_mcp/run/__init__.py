"""One profiled run: its one or two reports, linked, with doubts, windows and iterations."""
