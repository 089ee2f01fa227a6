# Static binaries on an empty root: nothing in it but the server, the command line
# (/berth, /kubectl-berth) and certificates.
FROM golang:1.26 AS build
ARG VERSION=unknown
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN mkdir -p /out/bin /out/data \
 && CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/bin/ ./cmd/server ./cmd/berth \
 && ln -s berth /out/bin/kubectl-berth

FROM scratch
LABEL org.opencontainers.image.title="berth" \
      org.opencontainers.image.description="Scheduling decisions as a service, with Kubernetes' semantics" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/bin/ /
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
# Inside a container the port is published on purpose, hence --insecure: put
# something that authenticates in front of it.
ENV BERTH_LISTEN=0.0.0.0:8080 BERTH_DATA_DIR=/data BERTH_INSECURE=true
EXPOSE 8080
VOLUME /data
ENTRYPOINT ["/server"]
