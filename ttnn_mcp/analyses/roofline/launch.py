"""The least any op takes."""

LAUNCH_FLOOR_NS = 2000.0  # the shortest ops of real reports take 2 to 5 us: a program must start and drain
