# The GPU worker. Context: a folder with install.sh, closure.sh and the package, as deploy/images.sh makes it. CUDA_BASE is an image of CUDA's
# runtime, of which cuFFT is taken, e.g. nvidia/cuda:13.0.1-runtime-ubuntu24.04; left out, the worker transforms on the host alone.
# The driver comes with the machine: the runtime of NVIDIA's containers mounts it.
ARG BASE=debian:bookworm-slim
ARG CUDA_BASE=${BASE}

FROM ${CUDA_BASE} AS cuda
RUN mkdir -p /cufft && for file in /usr/local/cuda/lib64/libcufft.so.*; do [ ! -e "$file" ] || cp -a "$file" /cufft; done

FROM ${BASE} AS installed
ARG SOURCE_DATE_EPOCH=0
ARG TAPEDECK_MEMLOCK=nodeLimit
COPY . /install
RUN SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH} TAPEDECK_MEMLOCK=${TAPEDECK_MEMLOCK} /install/install.sh worker ibverbs-providers

FROM scratch
COPY --from=installed /image /
COPY --from=cuda /cufft/ /usr/local/cuda/lib64/
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER 7500:7500
WORKDIR /var/lib/tapedeck/worker
VOLUME /var/lib/tapedeck/worker
EXPOSE 7500 9500
STOPSIGNAL SIGTERM
HEALTHCHECK CMD ["/usr/bin/tapedeck-healthy", "9500"]
ENTRYPOINT ["/usr/bin/tapedeck-worker"]
CMD ["--help"]
