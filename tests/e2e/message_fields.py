"""The fields of a Protobuf message, by its wire format alone: https://protobuf.dev/programming-guides/encoding"""


def fields(message):
    """(number, value) of each, in order: a number, or the bytes of what is longer."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        number, kind = key >> 3, key & 7
        if kind == 0:
            yield number, varint()
        elif kind == 1:
            yield number, int.from_bytes(message[at:at + 8], "little")
            at += 8
        elif kind == 2:
            size = varint()
            yield number, message[at:at + size]
            at += size
        else:
            raise ValueError(f"wire type {kind}")
