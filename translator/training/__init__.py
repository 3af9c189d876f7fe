"""Training and evaluation: corpora in, a checkpoint folder with its log out."""
