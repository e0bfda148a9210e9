#!/usr/bin/python3
"""Hostile requests at a console, one connection each: console_hostile.py SECONDS PORT DESCRIPTORS [SEED].

DESCRIPTORS is a FileDescriptorSet of the contracts (protoc --descriptor_set_out --include_imports). Every field of every call's
request has its turn with values that no sane caller sends, beside a sound rest; and so have the parts of HTTP itself: method,
path, query, version, each header, and how the body comes. It fails where a whole answer is none of HTTP's, is neither JSON nor
events, has markup in it that a browser could take for a page, or says 500.
"""
import collections
import json
import random
import socket
import sys
import time
import urllib.parse

from google.protobuf import descriptor_pb2

WORDS = ["", " ", "luns/l0", "luns/l0/channels/c0", "luns/l0/channels/c0/recordings/latest", "luns/-/channels/-", "luns/x" * 300,
         "../../etc/passwd", "<script>alert(1)</script>", "\u0000", "\ud800", "é" * 999, "\"\\\n", "NaN", "Infinity", "-1s", "1e400s",
         "9999-12-31T23:59:59.999999999Z", "0000-00-00T00:00:00Z", "a,b..c,", "AAAA", "=" * 9, "x" * 60000]
NUMBERS = [0, -1, 1, 2**31, 2**63, -2**63, 2**64, 1e308, -0.0, 0.1, "18446744073709551615", "1e3", 10**400]
HEADERS = {"Host": ["", "x", "evil.example", "127.0.0.1:99999", "[::1", "a" * 5000], "Origin": ["null", "http://evil.example", "\x01"],
           "Content-Type": ["text/plain", "application/json; charset=\xff", ""], "Accept": ["*/*", "text/event-stream", ""],
           "Content-Length": ["-1", "0", "99999999999", "5", "0x10", "1, 2"], "Transfer-Encoding": ["chunked", "gzip", "chunked, chunked"],
           "Sec-Fetch-Site": ["cross-site", "same-origin", "x"], "Connection": ["close", "upgrade", "\t"], "Cookie": ["a=" * 4000],
           "Expect": ["100-continue"], "Range": ["bytes=0-"], "X\x00": ["a"], "Content-Encoding": ["gzip"]}
TYPE = descriptor_pb2.FieldDescriptorProto


class Calls:
    """The calls of the contracts, and requests for them."""

    def __init__(self, path, rng):
        files = descriptor_pb2.FileDescriptorSet.FromString(open(path, "rb").read()).file
        self.rng, self.messages, self.methods = rng, {}, []
        for file in files:
            for message in file.message_type:
                self.add(f".{file.package}", message)
            self.methods += [(f"{file.package}.{service.name}/{method.name}", method) for service in file.service
                             for method in service.method]
        self.fields = [(name, method, field) for name, method in self.methods
                       for field in self.messages[method.input_type].field]

    def add(self, outer, message):
        name = f"{outer}.{message.name}"
        self.messages[name] = message
        for nested in message.nested_type:
            self.add(name, nested)

    def value(self, field, depth=0):
        """One of its type, or not."""
        kind = self.rng.random()
        if kind < 0.2:
            return self.rng.choice([None, [], {}, True, [[[]]] * 99, self.rng.choice(WORDS), self.rng.choice(NUMBERS)])
        if field.label == TYPE.LABEL_REPEATED and kind < 0.9:
            if field.type == TYPE.TYPE_MESSAGE and self.messages[field.type_name].options.map_entry:
                return {self.rng.choice(WORDS)[:300]: self.rng.choice(WORDS)[:300] for _ in range(self.rng.choice([1, 9, 200]))}
            return [self.one(field, depth)] * self.rng.choice([1, 2, 300])
        return self.one(field, depth)

    def one(self, field, depth):
        if field.type == TYPE.TYPE_MESSAGE and field.type_name in self.messages and depth < 6:
            if field.type_name.startswith(".google.protobuf"):
                return self.rng.choice(WORDS)
            nested = self.messages[field.type_name].field
            return {one.name: self.value(one, depth + 1) for one in nested if self.rng.random() < 0.4}
        if field.type in (TYPE.TYPE_STRING, TYPE.TYPE_BYTES, TYPE.TYPE_ENUM, TYPE.TYPE_MESSAGE):
            return self.rng.choice(WORDS)
        return self.rng.choice(NUMBERS)

    def request(self):
        """(path, JSON) of the next call: one field has its turn, others come along."""
        name, method, field = self.rng.choice(self.fields)
        others = self.messages[method.input_type].field
        body = {one.name: self.value(one) for one in others if self.rng.random() < 0.3}
        body[field.name] = self.value(field)
        text = json.dumps(body, ensure_ascii=self.rng.random() < 0.5)
        if self.rng.random() < 0.1:
            at = self.rng.randrange(len(text))
            text = text[:at] + self.rng.choice(["", "{" * 5000, "\x00", "}", "//"]) + text[at + self.rng.randrange(3):]
        return self.rng.choice(["/api/"] * 4 + ["/api/workers/w0/", "/api/workers/<script>alert(1)/"]) + name, text.encode(errors="surrogatepass")


def request(calls, rng):
    """The bytes of one request."""
    path, body = calls.request()
    method, version, headers = "POST", "HTTP/1.1", {"Host": "127.0.0.1", "Content-Type": "application/json", "Connection": "close"}
    if rng.random() < 0.3:
        headers["Accept"] = "text/event-stream"
        if rng.random() < 0.3:
            method = "GET"
            path += "?request=" + urllib.parse.quote(body)[:rng.choice([100, 3000, 40000])]
            body = b""
    if rng.random() < 0.3:
        name = rng.choice(list(HEADERS))
        headers[name] = rng.choice(HEADERS[name])
    if rng.random() < 0.1:
        method = rng.choice(["PUT", "DELETE", "OPTIONS", "TRACE", "", "G" * 9000, "CONNECT", "HEAD"])
    if rng.random() < 0.1:
        path = rng.choice(["*", "//", "/../../etc/passwd", "/%00", "/api", "/api/" + "a" * 33000, "http://evil.example/", "/<script>", ""])
    if rng.random() < 0.05:
        version = rng.choice(["HTTP/0.9", "HTTP/9.9", "", "HTTP/1.1\r\n x", "HTTP/1.0"])
    if not set(headers) & {"Content-Length", "Transfer-Encoding"}:
        headers["Content-Length"] = str(len(body))
    head = f"{method} {path} {version}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items()) + "\r\n"
    return head.encode("latin-1", "replace") + body


def answer_of(port, data, patience=0.15):
    """What comes until the other end closes, or says nothing for so long."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as peer:
        peer.settimeout(patience)
        answer = b""
        try:
            peer.sendall(data)
            while len(answer) < 1 << 20 and (got := peer.recv(65536)):
                answer += got
        except OSError:
            pass
    return answer


def judge(answer):
    """The status of an answer; raises where it is none that a browser may get."""
    if not answer:
        return "nothing"
    head, _, body = answer.partition(b"\r\n\r\n")
    status = head.split(b"\r\n")[0]
    assert status.startswith(b"HTTP/1."), status
    code = status.split(b" ")[1].decode()
    assert code != "500", answer[:2000]
    kind = next((line.split(b":")[1].strip() for line in head.lower().split(b"\r\n") if line.startswith(b"content-type:")), b"")
    if kind.startswith(b"application/json") and body and b"content-length" in head.lower():
        json.loads(body)
    if b"<script>" in body:
        assert kind.startswith((b"application/json", b"text/event-stream")) and b"nosniff" in head, answer[:2000]
    return code


def honest(port):
    said = answer_of(port, b"POST /api/tapedeck.v1.CatalogService/ListLuns HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                     b"Content-Length: 2\r\nConnection: close\r\n\r\n{}", 10)
    return said.startswith(b"HTTP/1.1 200")


def main(seconds, port, descriptors, seed=1):
    rng = random.Random(int(seed))
    calls, counts = Calls(descriptors, rng), collections.Counter()
    end, asked = time.monotonic() + float(seconds), time.monotonic()
    while time.monotonic() < end:
        counts[judge(answer_of(int(port), request(calls, rng)))] += 1
        if time.monotonic() - asked > 1:
            asked = time.monotonic()
            counts["honest calls answered" if honest(int(port)) else "honest calls refused"] += 1
    print(f"{sum(counts.values())} requests for {len(calls.fields)} fields of {len(calls.methods)} calls:", dict(counts.most_common()))


if __name__ == "__main__":
    main(*sys.argv[1:])
