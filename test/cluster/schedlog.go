package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
)

// scoresInLog is kube-scheduler's flag for the scores of all nodes.
const scoresInLog = "--vmodule=schedule_one=10"

// bestByLog reads from kube-scheduler's log, as it is with scoresInLog, which nodes had the highest
// score for each pod (by namespace/name), in order of their names. A pod for which one node was
// left has no scores.
func bestByLog(path string) (map[string][]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	type top struct {
		seen  map[string]bool
		score int64
		nodes []string
	}
	tops := map[string]*top{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Bytes()
		if !bytes.Contains(line, []byte(`"Calculated node's final score for pod"`)) {
			continue
		}
		pod, node := field(line, `pod="`, '"'), field(line, `node="`, '"')
		score, err := strconv.ParseInt(field(line, ` score=`, ' '), 10, 64)
		if err != nil || pod == "" || node == "" {
			return nil, fmt.Errorf("kube-scheduler's log has the line %q", line)
		}
		t := tops[pod]
		if t == nil || t.seen[node] { // the pod is tried again: only the last time counts
			t = &top{seen: map[string]bool{}, score: -1}
			tops[pod] = t
		}
		t.seen[node] = true
		switch {
		case score > t.score:
			t.score, t.nodes = score, append(t.nodes[:0], node)
		case score == t.score:
			t.nodes = append(t.nodes, node)
		}
	}
	best := map[string][]string{}
	for pod, t := range tops {
		slices.Sort(t.nodes)
		best[pod] = t.nodes
	}
	return best, lines.Err()
}

// field returns what stands between a key and the next end, or the line's.
func field(line []byte, key string, end byte) string {
	_, after, ok := bytes.Cut(line, []byte(key))
	if !ok {
		return ""
	}
	if i := bytes.IndexByte(after, end); i >= 0 {
		after = after[:i]
	}
	return string(after)
}
