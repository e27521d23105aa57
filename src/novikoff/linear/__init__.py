"""Linear classifiers: Perceptron, Ellipsoid, second-order Perceptron, AROW."""
