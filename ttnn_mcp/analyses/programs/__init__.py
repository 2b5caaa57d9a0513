"""What TTNN runs: grids, blocks, shards and buffers that its own code chooses for an op."""
