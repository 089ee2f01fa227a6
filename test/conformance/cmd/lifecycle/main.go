// Command lifecycle tries berth's POST /v1/pods/lifecycle against the code of
// the kubelet, the controllers and kubectl's printer.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"berth/test/conformance/lifecycle"
)

func main() {
	server := flag.String("server", "http://127.0.0.1:8080", "berth's address")
	semantics := flag.String("semantics", "", "release that berth answers as; its default if empty")
	n := flag.Int("n", 10000, "pods")
	seed := flag.Uint64("seed", 1, "seed; pod i has seed + i")
	workers := flag.Int("workers", 4, "callers at once")
	show := flag.Int("show", 5, "differences to show, each as a small pod")
	flag.Parse()
	klog.SetLogger(logr.Discard()) // upstream's fakes tell that they are there
	r, err := lifecycle.Run(*server, *semantics, *n, *seed, *workers, *show)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for _, d := range r.Differences {
		fmt.Println(d)
	}
	fmt.Print(r.Summary())
	if r.Differ > 0 {
		os.Exit(1)
	}
}
