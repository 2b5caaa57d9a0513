"""L1 and DRAM at each moment of a memory report: held tensors, buffers of programs, holes, peaks."""
