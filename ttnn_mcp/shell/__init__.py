"""The door at a shell: commands, screens, completion."""
