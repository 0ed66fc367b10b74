"""Quantised tensors: numbers in narrow dtypes that stand for others by scales, as trees of ordinary tensors."""
