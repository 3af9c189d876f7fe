"""The page that needs no server: what an exported site consists of."""
