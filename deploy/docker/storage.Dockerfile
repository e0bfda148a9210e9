# The storage node. Context: a folder with install.sh, closure.sh and the package, as deploy/images.sh makes it. It listens where the options
# say; its state and, unless they are mounted elsewhere, its members lie in the volume /var/lib/tapedeck/storage.
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS installed
ARG SOURCE_DATE_EPOCH=0
ARG TAPEDECK_MEMLOCK=nodeLimit
COPY . /install
RUN SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH} TAPEDECK_MEMLOCK=${TAPEDECK_MEMLOCK} /install/install.sh storage ibverbs-providers

FROM scratch
COPY --from=installed /image /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
USER 7400:7400
WORKDIR /var/lib/tapedeck/storage
VOLUME /var/lib/tapedeck/storage
EXPOSE 7400 9400
STOPSIGNAL SIGTERM
HEALTHCHECK CMD ["/usr/bin/tapedeck-healthy", "9400"]
ENTRYPOINT ["/usr/bin/tapedeck-storage"]
CMD ["--help"]
