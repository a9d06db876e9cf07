"""A simulated world of studies: time, storage, network and processes, all by a seed."""
