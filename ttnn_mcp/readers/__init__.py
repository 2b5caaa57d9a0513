"""Files as they are on disk, in every generation of their format. Nothing is written, nothing trusted."""
