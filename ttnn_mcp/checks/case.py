"""The old name of the facts of a window."""

from ttnn_mcp.analyses.window_facts import WindowFacts as Case
from ttnn_mcp.analyses.window_facts import facts_of as case_of

__all__ = ["Case", "case_of"]
