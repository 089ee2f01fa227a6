package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"k8s.io/klog/v2"
)

// options are those of the command line.
type options struct {
	bin, server, older  string
	database, only      string
	outage, hold        time.Duration
	nodes, pods, rounds int
	turns               int
	keep                bool
	rows                string
}

// scenario is one thing that is tried.
type scenario struct {
	name string
	what string
	run  func(context.Context, *env) error
}

// scenarios in the order in which they run.
var scenarios = []scenario{
	{"basic", "pods are filtered, scored and bound by berth, with kube-scheduler's own filters on", basic(full)},
	{"veto", "the same with berth alone vetoing nodes", basic(extenderOnly)},
	{"mtls", "the same over a listener that asks for a client's certificate", mtls},
	{"preemption", "victims go, the node is nominated, the pod is bound", preemption(full, 0)},
	{"preemption-fit", "the same with no plugin but NodeResourcesFit beside berth", preemption(fitOnly, 0)},
	{"preemption-late", "the same while berth hears 200 ms late: exactly the victims needed", preemption(full, 200*time.Millisecond)},
	{"woken", "pods wait in a quiet cluster, room appears, and none is forgotten however late berth hears of it", woken},
	{"gates", "gated pods wait, and go when the gate is removed", gates},
	{"spread", "topology spread holds over 60 pods", spread(full)},
	{"spread-alone", "the same with berth as the only holder of the rule", spread(extenderOnly)},
	{"drain", "kubectl drain evicts and leaves the pods that berth said, in waves of that size", drains},
	{"future", "what happens in a cluster with all controllers is what berth said, and when", futures},
	{"agreement", "kube-scheduler's choice is among the best of berth's on the same revision", agreement},
	{"killed", "berth is killed and started again", killed},
	{"severed", "the way to the apiserver is cut", severed},
	{"upgrade", "an earlier release is replaced by this one over the same data", upgrade},
	{"outage", "the database is stopped", outage},
	{"replicas", "two berths behind one address, one of which is killed", replicas},
	{"turns", "pods per second with extenders that let everything pass unread, without scores and with some, and with berth, in turns", turns},
	{"throughput", "pods per second without berth, with its shadow, and with its word", throughput},
}

func main() {
	var o options
	flag.StringVar(&o.bin, "bin", "bin", "directory of etcd, kube-apiserver and kube-scheduler")
	flag.StringVar(&o.server, "server", "../../bin/server", "berth's program")
	flag.StringVar(&o.older, "older", "bin/older", "program of an earlier release, for upgrade")
	flag.StringVar(&o.database, "database", "bin/database", "program that keeps a private PostgreSQL (test/database)")
	flag.StringVar(&o.only, "scenario", "", "run only these, by name, with commas between them")
	flag.DurationVar(&o.outage, "outage", time.Minute, "for how long the database is away in its scenario")
	flag.IntVar(&o.nodes, "nodes", 1000, "nodes for throughput")
	flag.IntVar(&o.pods, "pods", 3000, "pods for throughput, and for each of the turns")
	flag.IntVar(&o.turns, "turns", 5, "turns of each in turns")
	flag.DurationVar(&o.hold, "hold", 2500*time.Millisecond, "berth's --hold-rejections in woken; 0 shows what it is for")
	flag.IntVar(&o.rounds, "rounds", 2, "how often woken tries each kind of moment in each set-up")
	flag.StringVar(&o.rows, "rows", "", "run only these rows of future, by name, with commas between them")
	flag.BoolVar(&o.keep, "keep", false, "keep the directory with all logs")
	flag.Parse()
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func run(o *options) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	quiet()
	todo, err := choose(o.only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "berth-cluster")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil || o.keep {
			fmt.Println("logs are in", dir)
			return
		}
		err = os.RemoveAll(dir)
	}()
	began := time.Now()
	c, err := startControl(ctx, o.bin, dir)
	if err != nil {
		return err
	}
	defer c.stop()
	fmt.Printf("etcd and kube-apiserver are up after %.1f s\n", time.Since(began).Seconds())
	k := startKubelets(ctx, c.client, 300*time.Millisecond)
	failed := 0
	for _, s := range todo {
		if !one(ctx, &env{control: c, kubelets: k, options: o}, s) {
			failed++
		}
	}
	fmt.Printf("%d of %d scenarios passed in %.0f s\n", len(todo)-failed, len(todo), time.Since(began).Seconds())
	if failed > 0 {
		return fmt.Errorf("%d scenarios failed", failed)
	}
	return nil
}

// quiet keeps client-go from telling of watches that end with the suite.
func quiet() {
	flags := flag.NewFlagSet("", flag.PanicOnError)
	klog.InitFlags(flags)
	_ = flags.Parse([]string{"-logtostderr=false", "-stderrthreshold=FATAL"}) // it panics instead
	klog.SetOutput(io.Discard)
}

// one runs a scenario and describes how it went.
func one(ctx context.Context, e *env, s scenario) bool {
	fmt.Printf("\n== %s: %s\n", s.name, s.what)
	began := time.Now()
	err := e.begin(ctx, s.name)
	if err == nil {
		err = s.run(ctx, e)
	}
	if err != nil {
		e.failed = append(e.failed, err.Error())
	}
	if err := e.end(ctx); err != nil {
		e.failed = append(e.failed, "tidy up: "+err.Error())
	}
	for _, f := range e.figures {
		fmt.Println("  ", f)
	}
	for i, f := range e.failed {
		if i == 10 {
			fmt.Printf("   … and %d more\n", len(e.failed)-i)
			break
		}
		fmt.Println("   FAILED:", f)
	}
	verdict := "passed"
	if len(e.failed) > 0 {
		verdict = "FAILED"
	}
	fmt.Printf("   %s in %.1f s\n", verdict, time.Since(began).Seconds())
	return len(e.failed) == 0
}

func choose(only string) ([]scenario, error) {
	if only == "" {
		return scenarios, nil
	}
	var todo []scenario
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no scenario %q", name)
		}
		todo = append(todo, scenarios[i])
	}
	return todo, nil
}
