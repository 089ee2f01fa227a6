// Package version holds the version that people see: of the programs, the image, the package and
// the chart. The engine has a version of its own, which changes with what it answers.
package version

// Number is the version of this release, or of the one that is being prepared. The Makefile and
// tools/release read it here, and tests hold the manifests and the chart to it.
const Number = "v0.3.0"

// Revision is the commit that a build names by -ldflags "-X berth/internal/version.Revision=…", for
// one without the repository beside it, such as the image's; empty: Go's own stamp counts.
var Revision = ""
