"""The night's work on memory: consolidation and digests."""
