"""A run as something to attach and to look at: a page, pictures, a trace. All numbers are the tools' own."""
