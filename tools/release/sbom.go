package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// bill writes the bill of materials of a platform, from what the linker put into the programs.
func (r *release) bill(p platform, programs string, licences modulesOf) ([]byte, error) {
	b := cdx.NewBOM()
	root := cdx.Component{
		BOMRef: "berth", Type: cdx.ComponentTypeApplication, Name: "berth", Version: r.version, PackageURL: "pkg:generic/berth@" + r.version,
		Licenses: licenceOf([]string{"Apache-2.0"}), Properties: &[]cdx.Property{{Name: "platform", Value: p.String()}, {Name: "commit", Value: r.commit}},
	}
	parts := map[string]cdx.Component{}
	sum := sha256.New()
	for _, name := range []string{"server", "berth"} {
		info, err := buildinfo.ReadFile(filepath.Join(programs, name))
		if err != nil {
			return nil, err
		}
		fmt.Fprintln(sum, info)
		for _, d := range info.Deps {
			if strings.HasPrefix(d.Path, ours) {
				continue
			}
			m := *d
			if d.Replace != nil {
				m = *d.Replace
			}
			c := component(m.Path, m.Version)
			c.Properties = &[]cdx.Property{{Name: "go:sum", Value: m.Sum}}
			parts[m.Path] = c
		}
		parts["std"] = component("std", strings.TrimPrefix(info.GoVersion, "go"))
	}
	for _, m := range licences {
		if m.path == "swagger-ui" { // embedded, and so not known to the linker
			c := component(m.path, m.version)
			c.PackageURL = "pkg:npm/swagger-ui-dist@" + m.version
			parts[m.path] = c
		}
		c, ok := parts[m.path]
		if !ok {
			return nil, fmt.Errorf("%s is imported and not in the programs' build information", m.path)
		}
		c.Licenses = licenceOf(m.ids)
		parts[m.path] = c
	}
	var list []cdx.Component
	var refs []string
	for _, c := range parts {
		if c.Licenses == nil {
			return nil, fmt.Errorf("%s is in the programs, and its licence was not read", c.Name)
		}
		list, refs = append(list, c), append(refs, c.BOMRef)
	}
	slices.SortFunc(list, func(a, b cdx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	slices.Sort(refs)
	b.SerialNumber = uuid.NewHash(sum, uuid.NameSpaceURL, []byte(r.version+p.String()+r.commit), 5).URN()
	b.Metadata = &cdx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: &root}
	b.Components = &list
	b.Dependencies = &[]cdx.Dependency{{Ref: "berth", Dependencies: &refs}}
	var out bytes.Buffer
	err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(b, cdx.SpecVersion1_6)
	return out.Bytes(), err
}

func component(path, version string) cdx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: url}
}

func licenceOf(ids []string) *cdx.Licenses {
	if len(ids) == 1 {
		return &cdx.Licenses{{License: &cdx.License{ID: ids[0]}}}
	}
	return &cdx.Licenses{{Expression: strings.Join(ids, " AND ")}}
}

const modulesHead = `# What is linked in

The modules of the programs for Linux on amd64, as ` + "`make -s modules >tools/release/modules.md`" + ` writes
them: the version, the day on which it was made, and the licences. ` + "`make vuln`" + ` looks for known
vulnerabilities in them where its data can be reached.

`

// table writes modules.md, for a look where no data on vulnerabilities is in reach.
func (l modulesOf) table(dates map[string]string) string {
	var b strings.Builder
	b.WriteString(modulesHead + "| module | version | of | licence |\n| --- | --- | --- | --- |\n")
	for _, m := range l {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", m.path, m.version, dates[m.path], strings.Join(m.ids, " AND "))
	}
	return b.String()
}

// modules prints what is linked in, with the days on which the versions were made.
func modules(o *options) error {
	list, err := collect(o.source, o.platforms[0])
	if err != nil {
		return err
	}
	args := []string{"list", "-m", "-f", "{{.Path}} {{with or .Replace .}}{{with .Time}}{{.Format \"2006-01-02\"}}{{end}}{{end}}"}
	for _, m := range list {
		if strings.Contains(m.path, ".") { // not Go's own library, nor what is embedded
			args = append(args, m.path)
		}
	}
	out, err := command(o.source, nil, "go", args...)
	if err != nil {
		return err
	}
	dates := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, date, _ := strings.Cut(strings.TrimSpace(line), " ")
		dates[path] = date
	}
	fmt.Print(list.table(dates))
	return nil
}
