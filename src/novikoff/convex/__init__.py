"""Online convex optimisation: online gradient, AdaGrad, FTRL, logistic regression, VAW."""
