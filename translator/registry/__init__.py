"""What can be asked: every decoding setting and every field of the lab, with choices, range and default.

`decoding` and `lab` say it once. The page's forms, the command line's options, the refusals of the server and of
`DecodeConfig`, and `docs/settings.md` are made of it; a page without a server reads `web/src/protocol/registry.json`.
"""
