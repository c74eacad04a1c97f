"""The night's work on memory: consolidation, decay, digests, and ideas for the soul."""
