"""Problems drawn from a rule: every fold is a fresh draw."""
