"""How deep JSON is nested, which is told before it is read: a reader takes the stack for each level."""

from memgraph_engine.arrays import np

_QUOTE = ord('"')


def deeper(written: bytes, levels: int) -> bool:
    """Tell whether JSON, in UTF-8, has more than so many levels.

    >>> deeper(b'{"a": ["[[["]}', 2), deeper(b"[[[]]]", 2)
    (False, True)
    """
    if written.count(b"[") + written.count(b"{") <= levels:
        return False
    steps = np.zeros(256, np.int8)  # of levels, for each byte
    steps[list(b"[{")], steps[list(b"]}")] = 1, -1
    signs = np.frombuffer(written.replace(b"\\\\", b"").replace(b'\\"', b""), np.uint8)
    outside = np.logical_not(np.bitwise_xor.accumulate(signs == _QUOTE))  # of strings
    return bool(np.cumsum(steps[signs] * outside, dtype=np.int32).max() > levels)
