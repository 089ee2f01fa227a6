# Static binaries on an empty root: nothing in it but the server, the command line
# (/berth, /kubectl-berth) and certificates. `make release` builds the like without Docker, the
# same bytes each time. The digest is that of the official image; `make pin-images` reads it anew.
FROM golang:1.26.8@sha256:0f063af2d465d8dcae54cce04278ada488b96f77b42449c8d071e47d016cc65a AS build
WORKDIR /src
COPY go.mod go.sum ./
COPY client/go.mod client/
RUN go mod download
COPY . .
# The repository stays out of the image's layers, so that Go stamps no commit.
ARG REVISION=
RUN mkdir -p /out/bin /out/data \
 && CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X berth/internal/version.Revision=${REVISION}" -o /out/bin/ ./cmd/server ./cmd/berth \
 && ln -s berth /out/bin/kubectl-berth

FROM scratch
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="berth" \
      org.opencontainers.image.description="Scheduling decisions as a service, with Kubernetes' semantics" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/bin/ /
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
# Inside a container the port is published on purpose, hence --insecure: put
# something that authenticates in front of it. Callers use localhost, an address, or
# the name berth, unless BERTH_ALLOWED_HOSTS names others: a page in a browser must
# not reach it under a name of its own.
ENV BERTH_LISTEN=0.0.0.0:8080 BERTH_DATA_DIR=/data BERTH_INSECURE=true BERTH_ALLOWED_HOSTS=berth
EXPOSE 8080
VOLUME /data
ENTRYPOINT ["/server"]
