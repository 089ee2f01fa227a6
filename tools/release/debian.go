package main

import (
	"bytes"
	"crypto/md5" // the format's own sums
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// debian writes a Debian package. What it installs beside the programs is in tools/release/debian.
func (r *release) debian(arch string, c *contents) error {
	own := func(name string) ([]byte, error) {
		return os.ReadFile(filepath.Join(r.source, "tools/release/debian", name))
	}
	number := strings.TrimPrefix(r.version, "v")
	data := []entry{
		{name: "./usr/bin/berth", mode: 0o755, body: c.berth},
		{name: "./usr/bin/berth-server", mode: 0o755, body: c.server},
		{name: "./usr/bin/kubectl-berth", mode: 0o777, link: "berth"},
		{name: "./usr/share/bash-completion/completions/berth", mode: 0o644, body: c.texts["berth.bash"]},
		{name: "./usr/share/bash-completion/completions/berth-server", mode: 0o644, body: c.texts["server.bash"]},
		{name: "./usr/share/zsh/vendor-completions/_berth", mode: 0o644, body: c.texts["berth.zsh"]},
		{name: "./usr/share/zsh/vendor-completions/_berth-server", mode: 0o644, body: c.texts["server.zsh"]},
		{name: "./usr/share/fish/vendor_completions.d/berth.fish", mode: 0o644, body: c.texts["berth.fish"]},
		{name: "./usr/share/fish/vendor_completions.d/berth-server.fish", mode: 0o644, body: c.texts["server.fish"]},
		{name: "./usr/share/doc/berth/copyright", mode: 0o644, body: []byte(copyright)},
		{name: "./usr/share/doc/berth/sbom.cdx.json", mode: 0o644, body: c.bill},
		{name: "./usr/share/man/man1/kubectl-berth.1.gz", mode: 0o777, link: "berth.1.gz"},
	}
	for file, in := range map[string]string{"berth.service": "./usr/lib/systemd/system/", "berth.sysusers": "./usr/lib/sysusers.d/", "berth.default": "./etc/default/"} {
		body, err := own(file)
		if err != nil {
			return err
		}
		data = append(data, entry{name: in + map[string]string{"berth.sysusers": "berth.conf", "berth.default": "berth", "berth.service": file}[file], mode: 0o644, body: body})
	}
	log := fmt.Sprintf("berth (%s) unstable; urgency=medium\n\n  * See /usr/share/doc/berth/NEWS.md.gz.\n\n -- %s  %s\n", number, r.maintainer, r.time.Format(time.RFC1123Z))
	for name, body := range map[string][]byte{
		"man/man1/berth.1": c.texts["berth.1"], "man/man8/berth-server.8": c.texts["berth-server.8"],
		"doc/berth/NEWS.md": c.changelog, "doc/berth/changelog": []byte(log), "doc/berth/THIRD-PARTY-NOTICES.txt": c.notices,
	} {
		packed, err := compress(body)
		if err != nil {
			return err
		}
		data = append(data, entry{name: "./usr/share/" + name + ".gz", mode: 0o644, body: packed})
	}
	slices.SortFunc(data, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	files, err := pack(data, r.time)
	if err != nil {
		return err
	}
	var sums strings.Builder
	size := 0
	for _, e := range data {
		size += len(e.body)/1024 + 1
		if e.link == "" && !strings.HasPrefix(e.name, "./etc/") {
			fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(e.body), strings.TrimPrefix(e.name, "./"))
		}
	}
	control := []entry{
		{name: "./control", mode: 0o644, body: fmt.Appendf(nil, controlText, number, arch, r.maintainer, size)},
		{name: "./conffiles", mode: 0o644, body: []byte("/etc/default/berth\n")},
		{name: "./md5sums", mode: 0o644, body: []byte(sums.String())},
	}
	for _, script := range []string{"postinst", "prerm", "postrm"} {
		body, err := own(script)
		if err != nil {
			return err
		}
		control = append(control, entry{name: "./" + script, mode: 0o755, body: body})
	}
	scripts, err := pack(control, r.time)
	if err != nil {
		return err
	}
	members := []entry{{name: "debian-binary", body: []byte("2.0\n")}, {name: "control.tar.gz", body: scripts}, {name: "data.tar.gz", body: files}}
	for i := range members[1:] {
		if members[i+1].body, err = compress(members[i+1].body); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(r.out, "berth_"+number+"_"+arch+".deb"), archive(members, r.time), 0o644)
}

// archive writes the ar format, as deb(5) has it.
func archive(members []entry, at time.Time) []byte {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, m := range members {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", m.name, at.Unix(), 0, 0, 0o100644, len(m.body))
		b.Write(m.body)
		if len(m.body)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

const copyright = `Copyright 2026 the berth developers

berth is under the Apache License, Version 2.0, which Debian has in
/usr/share/common-licenses/Apache-2.0. Licences and authors of what it is linked
from: /usr/share/doc/berth/THIRD-PARTY-NOTICES.txt.gz.
`

const controlText = `Package: berth
Version: %s
Architecture: %s
Maintainer: %s
Installed-Size: %d
Depends: systemd | systemd-standalone-sysusers | systemd-sysusers
Recommends: ca-certificates
Suggests: postgresql
Section: admin
Priority: optional
Description: scheduling decisions with Kubernetes semantics
 berth decides where pods go by the rules of kube-scheduler, explains each
 decision, records it and replays it. The package has the server with a unit
 for systemd, and the command line berth, which is also a plugin of kubectl.
`
