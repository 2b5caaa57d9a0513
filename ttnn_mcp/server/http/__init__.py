"""The door of MCP over HTTP: tokens, limits, health."""
