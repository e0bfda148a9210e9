#!/usr/bin/python3
"""notify_socket.py PATH: listens as systemd does for its services, and prints each message with the milliseconds since the start."""
import socket
import sys
import time

listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(sys.argv[1])
began = time.monotonic()
while True:
    message = listener.recv(4096).decode()
    print(round((time.monotonic() - began) * 1000), message, flush=True)
