"""The door of MCP: tools, resources and prompts over stdio."""
