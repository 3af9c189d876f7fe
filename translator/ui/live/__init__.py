"""The contents of an exported page that needs no server."""
