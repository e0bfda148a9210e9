#!/bin/bash
# tapedeck-healthy PORT: whether the node whose admin port is PORT takes work. For health checks of containers: there is no curl in
# the image.
set -eu
exec 3<>"/dev/tcp/127.0.0.1/$1"
printf 'GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n' >&3
read -r -t 5 _ status _ <&3
[ "$status" = 200 ]
