"""Which op made a tensor and which read it, by identity, address or likeness."""
