"""Long messages compressed in little time, as one zlib stream."""

from __future__ import annotations

import re
import zlib

from translator.ui.gate import pause

_PACKED = re.compile(rb'"[A-Za-z0-9+/=]{256,}"')
"""Numbers in base64, the larger part of a trace."""
_HEADER = b"\x78\x9c"
"""Of a zlib stream (RFC 1950, section 2.2): deflate, a window of 32 KB, the usual level."""


def deflated(text: bytes) -> bytes:
    """`text` as one zlib stream, its packed numbers compressed on their own.

    Base64 has next to nothing that repeats but runs of one letter: not to look for more takes a third of the time, and
    the parts, each with a code of its own, come out smaller than the whole did. Between two, others have their turn.
    """
    parts, at = [_HEADER], 0
    for found in _PACKED.finditer(text):
        pause()
        parts += (_part(text[at : found.start()]), _part(found[0], zlib.Z_RLE))
        at = found.end()
    parts.append(_part(text[at:], last=True))
    return b"".join((*parts, zlib.adler32(text).to_bytes(4, "big")))


def _part(text: bytes, strategy: int = zlib.Z_DEFAULT_STRATEGY, *, last: bool = False) -> bytes:
    """Blocks of a deflate stream that end at a whole byte, so that others may follow unless it is the last."""
    packer = zlib.compressobj(4, wbits=-zlib.MAX_WBITS, memLevel=9, strategy=strategy)
    return packer.compress(text) + packer.flush(zlib.Z_FINISH if last else zlib.Z_SYNC_FLUSH)
