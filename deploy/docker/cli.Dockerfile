# tapectl. Context: a folder with install.sh, closure.sh and the package, as deploy/images.sh makes it.
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS installed
ARG SOURCE_DATE_EPOCH=0
COPY . /install
RUN SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH} /install/install.sh cli

FROM scratch
COPY --from=installed /image /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
USER 65534:65534
ENTRYPOINT ["/usr/bin/tapectl"]
CMD ["--help"]
