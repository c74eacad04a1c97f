"""The cost of models: budgets, who pays, and the only gate to a model."""
