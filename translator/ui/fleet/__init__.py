"""The page on Ray Serve: replicas that come and go with the load, behind one address."""
