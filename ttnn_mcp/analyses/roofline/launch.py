"""The least any op takes: its program must start and drain on all cores."""

# The shortest of some 4,000 ops in six real reports takes 373 ns (a Move of shards, Blackhole); 76 take less than 1 us.
LAUNCH_FLOOR_NS = 370.0
