"""Pure functions of attention maps and traces; those that rerun the model take a `Translator`."""
