"""What is generated, and by what. Sessions made here archive nothing: their state folders are gone in a moment."""

import os

os.environ.setdefault("TTNN_MCP_ARCHIVE_MB", "0")
