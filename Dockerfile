# The image of rungate, from what `npm run build:binary -- --target linux-x64,linux-arm64` writes. docs/how-to/without-node.md describes it.
#
#   docker buildx build --platform linux/amd64,linux/arm64 --build-arg VERSION=… --build-arg REVISION=… --build-arg SOURCE=… .

# The base needs glibc, libstdc++ and a shell. The tests set BASE to a Debian 13 made from its packages.
ARG BASE=docker.io/library/debian:13-slim

# This stage runs on the building machine, so that no processor is emulated.
FROM --platform=$BUILDPLATFORM ${BASE} AS files
ARG TARGETARCH
# Jenkins stops a job in a container with ps and kill.
RUN dpkg --add-architecture "$TARGETARCH" && apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates \
  && cd /tmp && apt-get download "procps:$TARGETARCH" "libproc2-0:$TARGETARCH" \
  && for package in ./*.deb; do dpkg --extract "$package" /procps; done
COPY dist/binary/ /binary/
# Artifacts of a workflow lose the permission to execute.
RUN mv "/binary/linux-$(echo "$TARGETARCH" | sed s/amd64/x64/)" /rungate \
  && chmod 644 /rungate/* && chmod 755 /rungate/rungate

FROM ${BASE}
COPY --from=files /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=files /procps/usr/bin/ps /procps/usr/bin/kill /usr/bin/
COPY --from=files /procps/usr/lib/ /usr/lib/
COPY --from=files /procps/usr/share/doc/ /usr/share/doc/
COPY --from=files /rungate/*LICENSE* /usr/share/doc/rungate/
COPY --from=files /rungate/rungate /usr/local/bin/
ARG VERSION
ARG REVISION
ARG SOURCE
LABEL org.opencontainers.image.title="rungate" \
  org.opencontainers.image.description="Trigger a test run, wait for it, and pass the CI job only if the run passed." \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="$VERSION" \
  org.opencontainers.image.revision="$REVISION" \
  org.opencontainers.image.source="$SOURCE"
WORKDIR /workspace
# A number, which Kubernetes needs for runAsNonRoot.
USER 65532:65532
ENTRYPOINT ["rungate"]
