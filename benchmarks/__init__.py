"""What we promise about speed, measured."""

import os

os.environ["TTNN_MCP_ARCHIVE_MB"] = "0"  # as in the default install: no process adds runs beside what is measured
