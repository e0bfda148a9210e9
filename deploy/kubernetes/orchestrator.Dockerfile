# record.py with what it needs; built from the repository's root: docker build -f deploy/kubernetes/orchestrator.Dockerfile .
FROM debian:bookworm-slim
RUN apt-get -q update && apt-get -q install -y --no-install-recommends python3-grpcio python3-protobuf protobuf-compiler \
    && rm -rf /var/lib/apt/lists/*
COPY proto /tapedeck/proto
COPY deploy/kubernetes/record.py /tapedeck/deploy/kubernetes/record.py
USER 65532
ENTRYPOINT ["/tapedeck/deploy/kubernetes/record.py"]
