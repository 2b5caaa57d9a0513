"""`python -m ttnn_mcp` is `ttnn-mcp`."""

import sys

from ttnn_mcp.shell.cli import main

if __name__ == "__main__":
    sys.exit(main())
