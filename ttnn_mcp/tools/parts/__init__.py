"""Parts of answers that several tools give, or that are too long for the file of one."""
