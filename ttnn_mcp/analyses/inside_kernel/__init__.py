"""Where the time of one kernel goes: by RISC core and by part."""
