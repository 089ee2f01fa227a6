package main

import (
	"log/slog"
	"math"
	"os"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/alecthomas/kong"

	"berth/internal/handlers/limits"
	"berth/internal/memory"
)

// fit sets the limits that go by memory, and that were not given, to what fits into the memory
// there is. It returns the names of those that it set, and the memory limit.
func (s *settings) fit(given map[string]string, log *slog.Logger) (set []string, total int64) {
	if s.AutoMemory {
		limitMemory(log)
	}
	total, ok := memory.Total()
	if !ok {
		return nil, 0
	}
	return s.Limits.Fit(total, func(name string) bool { return given[name] != "" }), total
}

// givenOf returns the source of each setting: "flag", or the name of an environment variable.
func givenOf(k *kong.Context) map[string]string {
	given := map[string]string{}
	for _, f := range k.Flags() {
		for _, e := range f.Envs {
			if os.Getenv(e) != "" && given[f.Name] == "" {
				given[f.Name] = e
			}
		}
	}
	for _, p := range k.Path {
		if p.Flag != nil {
			given[p.Flag.Name] = "flag"
		}
	}
	return given
}

// limitMemory sets the garbage collector's limit to 85 percent of the container's memory. The rest
// is for what the collector does not know: SQLite's pages and copies of rows, and the kernel's
// part.
func limitMemory(log *slog.Logger) {
	limit, err := memlimit.Set(memlimit.WithRatio(0.85))
	switch {
	case err != nil:
		log.Debug("no memory limit found", slog.Any("error", err))
	case limit > 0 && limit < math.MaxInt64: // the runtime calls no limit so
		log.Info("memory limit", slog.String("limit", limits.Bytes(limit).String()))
	}
}
