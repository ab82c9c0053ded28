"""Who writes queries and answers, and who checks them: rules, models, targets."""
