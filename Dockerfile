# A static binary on an empty root: nothing in it but berth and certificates.
FROM golang:1.26 AS build
ARG VERSION=unknown
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/server ./cmd/server \
 && mkdir -p /out/data

FROM scratch
LABEL org.opencontainers.image.title="berth" \
      org.opencontainers.image.description="Scheduling decisions as a service, with Kubernetes' semantics" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/server /server
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
# Inside a container the port is published on purpose, hence --insecure: put
# something that authenticates in front of it.
ENV BERTH_LISTEN=0.0.0.0:8080 BERTH_DATA_DIR=/data BERTH_INSECURE=true
EXPOSE 8080
VOLUME /data
ENTRYPOINT ["/server"]
