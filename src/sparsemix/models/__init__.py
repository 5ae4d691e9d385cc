"""One folder per published system; the folders never import each other."""
