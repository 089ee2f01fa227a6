// Command lint bundles analyzers that go vet does not have. It runs by
// `go vet -vettool`, so that results are kept in the build cache. A line with
// `//nolint:name // why` is left out of the analyzer of that name.
package main

import (
	"os"
	"regexp"
	"slices"
	"strings"

	errname "github.com/Antonboom/errname/pkg/analyzer"
	"github.com/jingyugao/rowserrcheck/passes/rowserr"
	"github.com/polyfloyd/go-errorlint/errorlint"
	sqlclose "github.com/ryanrolds/sqlclosecheck/pkg/analyzer"
	"github.com/timakin/bodyclose/passes/bodyclose"
	"go-simpler.org/sloglint"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"
)

func main() {
	analyzers := []*analysis.Analyzer{
		bodyclose.Analyzer,
		errname.New(),
		errorlint.NewAnalyzer(),
		rowserr.NewAnalyzer(),
		sloglint.New(&sloglint.Options{
			NoGlobalLogger: "all",
			StaticMessage:  true,
			AttributesOnly: true,
			KeyNamingCase:  "camel",
		}),
		sqlclose.NewAnalyzer(),
	}
	for _, a := range analyzers {
		exempt(a)
	}
	unitchecker.Main(analyzers...)
}

// exempt keeps an analyzer from reporting lines that are marked with its name.
func exempt(a *analysis.Analyzer) {
	run, mark := a.Run, regexp.MustCompile(`//nolint:([a-z]+,)*`+a.Name+`\b`)
	a.Run = func(pass *analysis.Pass) (any, error) {
		report := pass.Report
		pass.Report = func(d analysis.Diagnostic) {
			at := pass.Fset.Position(d.Pos)
			if !slices.Contains(marked(at.Filename, mark), at.Line) {
				report(d)
			}
		}
		return run(pass)
	}
}

// marked returns the numbers of a file's lines that match.
func marked(path string, mark *regexp.Regexp) (numbers []int) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	n := 0
	for line := range strings.Lines(string(raw)) {
		if n++; mark.MatchString(line) {
			numbers = append(numbers, n)
		}
	}
	return numbers
}
