#!/usr/bin/python3
"""What strangers, and friends gone bad, do to a node's port. Each attack prints how it ended in one line.
  tls_attack.py NODE CERTIFICATES ATTACK [ARGUMENT...]   CERTIFICATES/ann.pem, ann.key, ca.pem, other/root.pem ..."""
import collections
import socket
import ssl
import struct
import sys
import threading
import time

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes.fromhex("000000040000000000")
PATIENCE_S = 120  # longer than the node takes beside ten times as much work
CONNECTIONS_AT_ONCE = 16


class Node:
    """The node, and the certificates to call it with."""

    def __init__(self, endpoint, directory):
        host, port = endpoint.rsplit(":", 1)
        self.endpoint, self.address, self.directory = endpoint, (host, int(port)), directory

    def connect(self):
        """A plain connection."""
        return socket.create_connection(self.address, timeout=PATIENCE_S)

    def secured(self, name):
        """A TLS connection; name: none for no certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        if name is not None:
            context.load_cert_chain(f"{self.directory}/{name}.pem", f"{self.directory}/{name}.key")
        return context.wrap_socket(self.connect())

    def read(self, name):
        """A file of the certificates."""
        with open(f"{self.directory}/{name}", "rb") as file:
            return file.read()


def until_closed(peer):
    """Reads until the node closes; False if it does not."""
    try:
        while peer.recv(65536):
            pass
    except (TimeoutError, socket.timeout):
        return False
    except OSError:
        pass
    return True


def outcome(attempt):
    """In one word, how a connection ends that is to be refused."""
    try:
        with attempt() as peer:
            # A server of TLS 1.3 refuses a certificate after the client is done.
            return "closed" if until_closed(peer) else "open"
    except OSError:
        return "refused"


def flood(node, number):
    """So many connections of strangers: no word at all, no TLS, no certificate, one of another authority."""
    def garbage():
        peer = node.connect()
        peer.sendall(b"GET / HTTP/1.1\r\n\r\n")
        return peer

    def gone():
        node.connect().close()
        return node.connect()

    def mute():
        peer = gone()
        peer.shutdown(socket.SHUT_WR)
        return peer

    kinds = [mute, garbage, lambda: node.secured(None), lambda: node.secured("other/root")]
    ended, turn = collections.Counter(), iter(range(int(number)))
    lock = threading.Lock()

    def attempts():
        while True:
            with lock:
                number = next(turn, None)
            if number is None:
                return
            how = outcome(kinds[number % len(kinds)])
            with lock:
                ended[how] += 1

    threads = [threading.Thread(target=attempts) for _ in range(CONNECTIONS_AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return " ".join(f"{how}={count}" for how, count in sorted(ended.items()))


def slowly(peer, data, pause_s):
    """Sends byte by byte until the node closes; how many seconds that took, or none if it did not."""
    begun = time.monotonic()
    peer.settimeout(pause_s)
    for byte in data:
        try:
            peer.sendall(bytes([byte]))
            if not peer.recv(65536):
                return time.monotonic() - begun
        except (TimeoutError, socket.timeout):
            continue
        except OSError:
            return time.monotonic() - begun
    return None


def ended_after(seconds):
    """The answer of what the node is to end."""
    return "open" if seconds is None else f"closed after_s={seconds:.1f}"


def slow_handshake(node):
    """A ClientHello that never ends."""
    hello = bytes.fromhex("1603010200010001fc0303") + bytes(500)
    return ended_after(slowly(node.connect(), hello, 0.1))


def silent(node, number):
    """Connections that say nothing; when the last of them is closed."""
    begun, peers = time.monotonic(), [node.connect() for _ in range(int(number))]
    return ended_after(time.monotonic() - begun if all(until_closed(peer) for peer in peers) else None)


def silent_after_tls(node):
    """A good certificate, and then no word of HTTP/2."""
    begun = time.monotonic()
    return ended_after(time.monotonic() - begun if until_closed(node.secured("ann")) else None)


def slow_headers(node, seconds):
    """A good certificate, and then headers of a call that never end: so long, if the node bears it."""
    peer = node.secured("ann")
    peer.sendall(PREFACE + struct.pack(">I", 4000)[1:] + b"\x01\x04" + struct.pack(">I", 1))
    return ended_after(slowly(peer, bytes(int(seconds) * 5), 0.2))


ATTACKS = [flood, slow_handshake, silent, silent_after_tls, slow_headers]


def main():
    endpoint, directory, name, *arguments = sys.argv[1:]
    attacks = {attack.__name__: attack for attack in ATTACKS}
    print(name, attacks[name](Node(endpoint, directory), *arguments), flush=True)


if __name__ == "__main__":
    main()
