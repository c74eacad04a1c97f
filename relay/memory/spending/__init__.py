"""What models may cost: budgets, who pays, and the one gate to a model."""
