"""The public site: routes, the methods that answer them, and budgets of time and memory."""
