"""The page of a report in a real Chromium: `make browser`."""
