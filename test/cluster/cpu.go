package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cpuTimes is processor time by the name of a program.
type cpuTimes map[string]time.Duration

// childrenCPU returns what the suite's children have used, by /proc's ticks of 10 ms.
func childrenCPU() cpuTimes {
	out := cpuTimes{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well-formed
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		// "pid (name) state ppid ..." has the times as its 14th and 15th field.
		from, to := strings.IndexByte(string(raw), '('), strings.LastIndexByte(string(raw), ')')
		rest := strings.Fields(string(raw[to+1:]))
		if rest[1] != strconv.Itoa(os.Getpid()) {
			continue
		}
		for _, field := range rest[11:13] {
			ticks, _ := strconv.Atoi(field) // the kernel's
			out[string(raw[from+1:to])] += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	return out
}

// since returns what was used after an earlier reading.
func (c cpuTimes) since(before cpuTimes) cpuTimes {
	out := cpuTimes{}
	for name, used := range c {
		out[name] = used - before[name]
	}
	return out
}

// add adds other to the times.
func (c cpuTimes) add(other cpuTimes) {
	for name, used := range other {
		c[name] += used
	}
}

// each returns the times for one of n, in milliseconds, by name.
func (c cpuTimes) each(n int) string {
	var out []string
	for name, used := range c {
		out = append(out, fmt.Sprintf("%s %.1f", name, 1000*used.Seconds()/float64(n)))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
