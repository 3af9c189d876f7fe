"""Corpus work on many machines by Ray: a file in shards, actors that hold a model each, output in parts."""
