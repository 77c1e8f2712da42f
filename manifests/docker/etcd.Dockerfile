# etcd as Debian packs it, for compose.yaml. It has neither TLS nor a password: only its members and the masters may be
# on its network.

FROM debian:bookworm-slim
RUN apt-get update \
  && apt-get install --yes --no-install-recommends etcd-client etcd-server \
  && rm -rf /var/lib/apt/lists/*
ENV ETCD_DATA_DIR=/var/lib/etcd/drover
USER etcd
VOLUME /var/lib/etcd
EXPOSE 2379 2380
ENTRYPOINT ["etcd"]
