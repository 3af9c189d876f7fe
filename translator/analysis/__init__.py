"""Pure functions of attention maps and traces; what runs the model again takes a `Translator`."""
