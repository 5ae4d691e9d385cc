"""Compile policy, random streams and small numeric kernels."""
