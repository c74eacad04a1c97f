"""What model calls cost, and who pays."""
