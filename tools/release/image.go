package main

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is whom the image runs as, as in Dockerfile.
const user = 65532

// roots are Mozilla's certificate authorities, from a module, so that they do not depend on the
// machine. Those with constraints are left out: a file cannot say them.
func roots() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // memory does not fail
		}
	}
	return b.Bytes()
}

// layer is the whole root of the image.
func (c *contents) layer(at time.Time) ([]byte, error) {
	return pack([]entry{
		{name: "server", mode: 0o755, body: c.server},
		{name: "berth", mode: 0o755, body: c.berth},
		{name: "kubectl-berth", mode: 0o777, link: "berth"},
		{name: "data/", mode: 0o700, owner: user},
		{name: "etc/passwd", mode: 0o644, body: []byte("berth:x:65532:65532:berth:/data:/server\n")},
		{name: "etc/group", mode: 0o644, body: []byte("berth:x:65532:\n")},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, body: roots()},
		{name: "licenses/LICENSE", mode: 0o644, body: c.licence},
		{name: "licenses/THIRD-PARTY-NOTICES.txt", mode: 0o644, body: c.notices},
		{name: "licenses/sbom.cdx.json", mode: 0o644, body: c.bill},
	}, at)
}

// image writes an OCI layout with an image for each architecture, which Docker, Podman, containerd
// and skopeo read.
func (r *release) image(layers map[string][]byte) error {
	index := v1.ImageIndex(mutate.IndexMediaType(empty.Index, types.OCIImageIndex))
	labels := map[string]string{
		"org.opencontainers.image.title":       "berth",
		"org.opencontainers.image.description": "Scheduling decisions as a service, with Kubernetes' semantics",
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.version":     r.version,
		"org.opencontainers.image.revision":    r.commit,
		"org.opencontainers.image.created":     r.time.Format(time.RFC3339),
	}
	for _, p := range r.platforms {
		raw, ok := layers[p.arch]
		if p.system != "linux" || !ok {
			continue
		}
		one, err := imageOf(raw, p.arch, labels, r.time)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: one, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: p.arch}}})
	}
	index = mutate.Annotations(index, labels).(v1.ImageIndex)
	dir, err := os.MkdirTemp("", "berth-image")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	at, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	ref := map[string]string{"org.opencontainers.image.ref.name": r.version, "io.containerd.image.name": "docker.io/library/berth:" + r.version}
	if err := at.AppendIndex(index, layout.WithAnnotations(ref)); err != nil {
		return err
	}
	var list []entry
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path) // path is below dir
		list = append(list, entry{name: filepath.ToSlash(name), mode: 0o644, body: body})
		return err
	})
	if err != nil {
		return err
	}
	packed, err := pack(list, r.time)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, r.name()+"_image.tar"), packed, 0o644)
}

func imageOf(root []byte, arch string, labels map[string]string, at time.Time) (v1.Image, error) {
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(root)), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{CreatedBy: "make release", Created: v1.Time{Time: at}}}); err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created = "linux", arch, v1.Time{Time: at}
	file.Config = v1.Config{
		User: "65532:65532", Entrypoint: []string{"/server"}, Labels: labels, ExposedPorts: map[string]struct{}{"8080/tcp": {}}, Volumes: map[string]struct{}{"/data": {}},
		Env: []string{"BERTH_LISTEN=0.0.0.0:8080", "BERTH_DATA_DIR=/data", "BERTH_INSECURE=true"}, WorkingDir: "/data",
	}
	return mutate.ConfigFile(image, file)
}

// pin writes the digests that registries have today into Dockerfile and docker-compose.yml.
func pin(source string) error {
	for _, file := range []string{"Dockerfile", "docker-compose.yml"} {
		path := filepath.Join(source, file)
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var lines []string
		for line := range strings.Lines(string(raw)) {
			fields := strings.Fields(line)
			if i := slices.IndexFunc(fields, func(s string) bool { return strings.Contains(s, "@sha256:") }); i >= 0 {
				tagged, _, _ := strings.Cut(fields[i], "@")
				ref, err := name.ParseReference(tagged)
				if err != nil {
					return err
				}
				found, err := remote.Head(ref)
				if err != nil {
					return fmt.Errorf("%s keeps its digests: %s cannot be asked for: %w: run this where its registry can be reached", file, tagged, err)
				}
				line = strings.Replace(line, fields[i], tagged+"@"+found.Digest.String(), 1)
			}
			lines = append(lines, line)
		}
		if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644); err != nil {
			return err
		}
	}
	return nil
}
