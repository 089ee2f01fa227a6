package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

var (
	fixture = filepath.Join("testdata", "cluster.yaml")
	// odd is the fixture's cluster a day later, with what an apiserver would not take.
	odd    = filepath.Join("testdata", "odd.yaml")
	drains = filepath.Join("..", "..", "examples", "drain.yaml")
)

// critical is a file of a node that runs out of disk, with pods that are never evicted.
func critical(name string) string { return filepath.Join("testdata", "critical", name) }

// Every command about a pod, with its exit code, over the fixture.
func TestGolden(t *testing.T) {
	for _, c := range []struct {
		name string
		code int
		args []string
	}{
		{"explain-scheduled", exitYes, []string{"explain", "shop/small"}},
		{"explain-pending", exitNo, []string{"explain", "pod/huge", "-n", "shop"}},
		{"explain-pending-wide", exitNo, []string{"explain", "shop/huge", "-o", "wide"}},
		{"explain-gated", exitNo, []string{"explain", "shop/gated"}},
		{"explain-preempting", exitNo, []string{"explain", "shop/checkout"}},
		{"explain-next", exitYes, []string{"story", "shop/checkout", "--next"}},
		{"explain-next-waits", exitNo, []string{"explain", "shop/huge", "--next"}},
		{"explain-next-gated", exitNo, []string{"explain", "shop/gated", "--next"}},
		{"explain-next-none", exitYes, []string{"explain", "deploy/web", "-n", "shop", "--next", "--until", "5m", "--snapshot", filepath.Join("..", "..", "examples", "stories", "cluster.yaml")}},
		{"explain-release", exitNo, []string{"explain", "shop/checkout", "--semantics", "v1.37"}},
		{"explain-spread", exitNo, []string{"explain", "shop/web-4"}},
		{"explain-bound", exitYes, []string{"explain", "shop/web-1"}},
		{"explain-node-rejected", exitNo, []string{"explain", "shop/huge", "--node", "n-a1"}},
		{"explain-node-fits", exitYes, []string{"explain", "shop/small", "--node", "n-b3"}},
		{"explain-node-chosen", exitYes, []string{"explain", "shop/small", "--node", "n-c2"}},
		{"explain-all", exitYes, []string{"explain", "shop/small", "--all"}},
		{"pending", exitNo, []string{"pending", "-A"}},
		{"pending-wide", exitNo, []string{"pending", "-n", "shop", "-o", "wide"}},
		{"pending-elsewhere", exitYes, []string{"pending"}},
		{"queue", exitYes, []string{"queue"}},
		{"garbage-none", exitYes, []string{"garbage"}},
		{"garbage", exitNo, []string{"garbage", "--snapshot", odd}},
		{"classes", exitYes, []string{"classes"}},
		{"classes-odd", exitNo, []string{"classes", "--snapshot", odd}},
		{"evictions", exitYes, []string{"evictions", "n-c1", "--usage", filepath.Join("testdata", "usage.json")}},
		{"evictions-disk", exitYes, []string{"evictions", "n1", "--signal", "disk", "--usage", critical("usage.json"), "--snapshot", critical("cluster.yaml")}},
		{"evictions-no-usage", exitYes, []string{"evictions", "n1", "--snapshot", critical("cluster.yaml")}},
		{"evictions-none", exitNo, []string{"evictions", "node/n-x1", "--signal", "pids"}},
		{"pressure", exitNo, []string{"pressure", "n1", "--usage", critical("summary.json"), "-f", critical("kubelet.yaml"), "--snapshot", critical("cluster.yaml")}},
		{"pressure-flags", exitNo, []string{"pressure", "node/n1", "--usage", critical("usage.json"), "--signal", "nodefs.available=9Gi,capacity=100Gi,reclaimable=512Mi,since=30s", "--eviction-hard", "nodefs.available<5%", "--eviction-soft", "nodefs.available<10%", "--eviction-soft-grace-period", "nodefs.available=90s", "--eviction-minimum-reclaim", "nodefs.available=1Gi", "--eviction-max-pod-grace-period", "20", "--eviction-pressure-transition-period", "1m", "--snapshot", critical("cluster.yaml")}},
		{"pressure-calm", exitYes, []string{"pressure", "n1", "--signal", "memory.available=4Gi", "--signal", "pid.available=100,capacity=1000", "--eviction-hard", "pid.available<5%", "--merge-default-eviction-settings", "--snapshot", critical("cluster.yaml")}},
		{"admit", exitYes, []string{"admit", "shop/huge", "-f", fixture}},
		{"admit-release", exitYes, []string{"admit", "-f", filepath.Join("testdata", "level.yaml"), "--semantics", "v1.36"}},
		{"admit-refused", exitNo, []string{"admit", "shop/classless", "-f", odd}},
		{"diff", exitNo, []string{"diff", fixture, odd}},
		{"blame", exitNo, []string{"blame", "shop/checkout", "--between", odd, fixture}},
		{"blame-node", exitNo, []string{"blame", "shop/checkout", "--node", "n-a1", "--between", odd, fixture}},
		{"blame-count", exitNo, []string{"blame", "--count", "3", "--between", odd, "shop/checkout", fixture}},
		{"blame-fits", exitYes, []string{"blame", "--between", fixture, odd, "shop/checkout"}},
		{"blame-same", exitYes, []string{"blame", "shop/small", "--node", "node/n-c2", "--between", odd, fixture}},
		{"diff-same", exitYes, []string{"diff", fixture, fixture}},
		{"victims-preempting", exitYes, []string{"victims", "shop/checkout"}},
		{"victims-never", exitNo, []string{"victims", "shop/huge"}},
		{"victims-room", exitYes, []string{"victims", "shop/small"}},
		{"victims-gated", exitNo, []string{"victims", "shop/gated"}},
		{"fit", exitYes, []string{"fit", "shop/small", "--by", "zone"}},
		{"fit-more-nodes", exitYes, []string{"fit", "shop/small", "--like", "n-c2", "--add", "2", "--max", "50"}},
		{"fit-none", exitNo, []string{"fit", "shop/huge"}},
		{"place", exitYes, []string{"place", "-f", filepath.Join("..", "..", "examples", "deployment.yaml")}},
		{"place-copies", exitYes, []string{"place", "-f", filepath.Join("testdata", "level.yaml"), "--count", "3", "--min-count", "1"}},
		{"rollout", exitYes, []string{"rollout", "-f", filepath.Join("..", "..", "examples", "deployment.yaml"), "--snapshot", filepath.Join("..", "..", "examples", "web.yaml")}},
		{"rollout-first", exitYes, []string{"rollout", "web", "-f", filepath.Join("..", "..", "examples", "deployment.yaml"), "--start-seconds", "90"}},
		{"rollout-set", exitYes, []string{"rollout", "sts/db", "-f", filepath.Join("testdata", "sets.yaml"), "--snapshot", filepath.Join("..", "..", "examples", "stories", "cluster.yaml")}},
		{"rollout-set-stuck", exitNo, []string{"rollout", "sts/cache", "-f", filepath.Join("testdata", "sets.yaml"), "--snapshot", filepath.Join("..", "..", "examples", "stories", "cluster.yaml")}},
		{"rollout-set-on-delete", exitYes, []string{"rollout", "statefulset/db", "-f", filepath.Join("testdata", "ondelete.yaml"), "--snapshot", filepath.Join("..", "..", "examples", "stories", "cluster.yaml")}},
		{"rollout-daemons", exitYes, []string{"rollout", "ds/agent", "-f", filepath.Join("testdata", "sets.yaml"), "--snapshot", filepath.Join("..", "..", "examples", "stories", "cluster.yaml")}},
		{"pools", exitNo, []string{"pools", "--like", "n-c2"}},
		{"pools-count", exitYes, []string{"pools", "shop/small", "--count", "90", "--like", "n-c2,cost=3,name=large", "--like", "n-a1"}},
		{"pools-none", exitYes, []string{"pools", "shop/small", "--like", "n-a1,max=5"}},
		{"fit-gated", exitYes, []string{"fit", "shop/gated", "--by", "disk"}},
		{"capacity", exitYes, []string{"capacity", "--by", "zone"}},
		{"upgrade", exitNo, []string{"upgrade", "--to", "v1.37"}},
		{"capacity-pools", exitYes, []string{"capacity", "--by", "pool", "--pool", "disk", "-o", "wide"}},
		{"drain", exitYes, []string{"drain", "worker-1", "--snapshot", drains}},
		{"drain-zone", exitNo, []string{"drain", "--zone", "eu-1a", "--delete-emptydir-data", "--snapshot", drains}},
		{"drain-refused", exitNo, []string{"drain", "node/worker-2", "worker-3", "--snapshot", drains}},
		{"drain-find", exitYes, []string{"drain", "--find", "2", "--snapshot", drains}},
		{"drain-each", exitNo, []string{"drain", "--each", "node", "--snapshot", drains}},
		{"drain-each-well", exitYes, []string{"drain", "worker-1", "--each", "node", "--snapshot", drains}},
		{"lose-each", exitNo, []string{"lose", "--each", "node", "--remove-after", "600", "--snapshot", drains}},
		{"lose-each-zone", exitNo, []string{"lose", "--each", "zone", "--snapshot", drains}},
		{"lose", exitNo, []string{"lose", "--zone", "eu-1a", "--snapshot", drains}},
		{"lose-removed", exitYes, []string{"lose", "worker-1", "--remove-after", "600", "--snapshot", drains}},
		{"simulate", exitNo, []string{"simulate", "-f", filepath.Join("testdata", "scenario.yaml")}},
		{"compare", exitNo, []string{"compare", "--config", filepath.Join("..", "..", "examples", "packed.yaml")}},
		{"spread-room", exitYes, []string{"spread", "shop/web-4"}},
		{"spread-blocked", exitNo, []string{"spread", "shop/apart"}},
		{"spread-none", exitYes, []string{"spread", "shop/small"}},
		{"spread-gated", exitYes, []string{"spread", "shop/gated"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := snapshot().run(t, c.args...)
			if r.code != c.code || r.err != "" {
				t.Errorf("code %d, stderr %q", r.code, r.err)
			}
			golden(t, c.name, r.out)
			if !strings.HasSuffix(c.name, "-wide") && c.name != "capacity-pools" {
				within(t, standardWidth, r.out)
			}
		})
	}
}
