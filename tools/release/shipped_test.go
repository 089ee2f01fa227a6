package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"go.yaml.in/yaml/v3"
)

// dist returns a release that was built before: `make package-test` names it.
func dist(t *testing.T, pattern string) string {
	t.Helper()
	dir := os.Getenv("BERTH_DIST")
	if dir == "" {
		t.Skip("BERTH_DIST names no release: make package-test")
	}
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v; make release needs MAINTAINER for the package and RELEASE_URL for krew", pattern, found, err)
	}
	return found[0]
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// unpack lays a tar below a directory, with its owners.
func unpack(t *testing.T, r io.Reader, dir string) {
	t.Helper()
	for files := tar.NewReader(r); ; {
		h, err := files.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, h.Name)
		switch h.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(path, h.FileInfo().Mode())
		case tar.TypeSymlink:
			err = os.Symlink(h.Linkname, path)
		default:
			var body []byte
			if body, err = io.ReadAll(files); err == nil {
				err = os.WriteFile(path, body, h.FileInfo().Mode())
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Lchown(path, h.Uid, h.Gid); err != nil && os.Geteuid() == 0 {
			t.Fatal(err)
		}
	}
}

// answers starts a server in a root of its own, as another user, and waits until it is ready.
func answers(t *testing.T, root string, uid uint32, env []string, name string, args ...string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = append(env, "BERTH_LISTEN="+address), "/"
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: uid, Gid: uid}, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := false
	for range 100 {
		if res, err := http.Get("http://" + address + "/readyz"); err == nil {
			_ = res.Body.Close()
			if ready = res.StatusCode == http.StatusOK; ready {
				break
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	err = cmd.Wait()
	if !ready || err != nil {
		t.Errorf("ready: %v, ended by %v:\n%s", ready, err, log.String())
	}
}

func rootOnly(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		if os.Getenv("BERTH_DIST") != "" { // make package-test asks for all of it
			t.Fatal("run make package-test as root: only root may change the root and the user")
		}
		t.Skip("only root may change the root and the user")
	}
}

// TestImage runs the image's content on its own root, where there is neither a shell nor Go, as its
// user.
func TestImage(t *testing.T) {
	file := dist(t, "berth_*_image.tar")
	rootOnly(t)
	raw, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = raw.Close() }()
	dir, root := t.TempDir(), t.TempDir()
	unpack(t, raw, dir)
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	whole, err := index.ImageIndex(m.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	m, err = whole.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var image v1.Image
	for _, one := range m.Manifests {
		if one.Platform.Architecture == runtime.GOARCH {
			if image, err = whole.Image(one.Digest); err != nil {
				t.Fatal(err)
			}
		}
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.Config.User != "65532:65532" || config.Config.Labels["org.opencontainers.image.version"] == "" || config.Config.Labels["org.opencontainers.image.revision"] == "" {
		t.Errorf("%+v", config.Config)
	}
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatal(layers, err)
	}
	files, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	unpack(t, files, root)
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	answers(t, root, 65532, config.Config.Env, config.Config.Entrypoint[0])
	if _, err := os.Stat(root + "/data/berth.db"); err != nil {
		t.Errorf("no records: %v", err)
	}
}

// TestArchiveRuns: what people download has all of it, and runs.
func TestArchiveRuns(t *testing.T) {
	file := dist(t, "berth_*_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz")
	raw, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = raw.Close() }()
	plain, err := gzip.NewReader(raw)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	unpack(t, plain, dir)
	for _, name := range []string{
		"LICENSE", "README.md", "THIRD-PARTY-NOTICES.txt", "sbom.cdx.json", "man/berth.1", "man/berth-server.8", "completions/berth.bash", "completions/server.fish",
	} {
		if f, err := os.Stat(filepath.Join(dir, name)); err != nil || f.Size() < 400 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"server", "berth"} {
		out, err := exec.Command(filepath.Join(dir, name), "version").CombinedOutput()
		version := strings.Split(filepath.Base(file), "_")[1]
		if err != nil || !strings.HasPrefix(string(out), "berth "+version+" ") {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

// TestBill: the bill of materials is one by its own reader, every part has a licence, and the parts
// are those that the linker names.
func TestBill(t *testing.T) {
	raw, err := os.ReadFile(dist(t, "berth_*_linux_amd64.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var b cdx.BOM
	strict := json.NewDecoder(bytes.NewReader(raw))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&b); err != nil {
		t.Fatal(err)
	}
	if b.SpecVersion != cdx.SpecVersion1_6 || b.Metadata.Component.Name != "berth" || len(*b.Components) < 80 {
		t.Errorf("%v, %d components", b.SpecVersion, len(*b.Components))
	}
	refs := map[string]bool{}
	for _, c := range *b.Components {
		if c.Licenses == nil || c.PackageURL == "" || refs[c.BOMRef] {
			t.Errorf("%+v", c)
		}
		refs[c.BOMRef] = true
	}
	for _, ref := range *(*b.Dependencies)[0].Dependencies {
		if !refs[ref] {
			t.Errorf("no component %s", ref)
		}
	}
}

// TestKrew reads the manifest as krew does, fields that it does not know refused, and compares its
// sums with the archives.
func TestKrew(t *testing.T) {
	file := dist(t, "krew-berth.yaml")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   struct{ Name string }
		Spec       struct {
			Version          string
			ShortDescription string `yaml:"shortDescription"`
			Description      string
			Platforms        []struct {
				Selector struct {
					MatchLabels map[string]string `yaml:"matchLabels"`
				}
				URI, Sha256, Bin string
				Files            []struct{ From, To string }
			}
		}
	}
	strict := yaml.NewDecoder(bytes.NewReader(raw))
	strict.KnownFields(true)
	if err := strict.Decode(&m); err != nil {
		t.Fatal(err)
	}
	for _, p := range m.Spec.Platforms {
		body, err := os.ReadFile(filepath.Join(filepath.Dir(file), filepath.Base(p.URI)))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != p.Sha256 || p.Bin != p.Files[0].From || len(p.Selector.MatchLabels) != 2 {
			t.Errorf("%+v", p)
		}
	}
	if m.Metadata.Name != "berth" || len(m.Spec.Platforms) == 0 || len(m.Spec.ShortDescription) > 50 || !strings.HasPrefix(m.Spec.Version, "v") {
		t.Errorf("%+v", m)
	}
}

// TestChecksums: sha256sum agrees, and every file has its line.
func TestChecksums(t *testing.T) {
	file := dist(t, "checksums.txt")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(raw), "\n"); n != len(files)-1 {
		t.Errorf("%d lines for %d files", n, len(files)-1)
	}
	cmd := exec.Command("sha256sum", "--check", "--quiet", "checksums.txt")
	cmd.Dir = filepath.Dir(file)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestDebian installs the package in a Debian without Go, as apt would, starts the server as the
// unit does, and removes it; BERTH_CHROOT is a directory that has such a Debian already.
func TestDebian(t *testing.T) {
	file := dist(t, "berth_*_"+runtime.GOARCH+".deb")
	rootOnly(t)
	root := os.Getenv("BERTH_CHROOT")
	if root == "" {
		root = filepath.Join(t.TempDir(), "root")
		// A mirror may be behind; it is only for this test, and signatures are checked all the same.
		out, err := exec.Command("mmdebstrap", "--verbose", `--aptopt=Acquire::Check-Valid-Until "false"`, "--variant=essential", "--include=systemd-standalone-sysusers", "stable", root).CombinedOutput()
		if err != nil {
			t.Fatalf("NOT CHECKED: there is no fresh Debian for the package: %v: %s\nGive the root of one by BERTH_CHROOT, or a mirror that answers.", err, out)
		}
	}
	in := func(args ...string) string {
		out, err := exec.Command("chroot", append([]string{root}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
		return string(out)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, root+"/berth.deb", string(raw))
	in("dpkg", "-i", "/berth.deb")
	defer in("dpkg", "--purge", "berth")
	if out := in("dpkg", "--verify", "berth"); out != "" {
		t.Errorf("files differ from their sums: %s", out)
	}
	if out := in("dpkg-query", "-W", "-f", "${Conffiles}", "berth"); !strings.Contains(out, "/etc/default/berth") {
		t.Errorf("conffiles: %s", out)
	}
	var uid uint32
	if _, err := fmt.Sscan(in("id", "-u", "berth"), &uid); err != nil || uid == 0 || uid >= 1000 {
		t.Fatalf("user %d: %v", uid, err)
	}
	in("install", "-d", "-m", "0700", "-o", "berth", "-g", "berth", "/var/lib/berth") // systemd: StateDirectory
	answers(t, root, uid, []string{"BERTH_DATA_DIR=/var/lib/berth"}, "/usr/bin/berth-server", "serve")
	if out := in("/usr/bin/kubectl-berth", "version"); !strings.HasPrefix(out, "berth v") {
		t.Error(out)
	}
	in("dpkg", "--remove", "berth")
	in("test", "-f", "/var/lib/berth/berth.db") // records outlive the package
}
