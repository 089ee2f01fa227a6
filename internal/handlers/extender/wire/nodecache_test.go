package wire

import (
	"errors"
	"fmt"
	"sync"
	"testing"
)

// nodeList is a request in Nodes mode; version[i] goes into node i.
func nodeList(first int, version []int) []byte {
	body := []byte(`{"Pod":{},"Nodes":{"metadata":{},"items":[`)
	for i, v := range version {
		if i > 0 {
			body = append(body, ',')
		}
		body = fmt.Appendf(body, `{"metadata":{"name":"n%d"},"spec":{"v":"%d"}}`, first+i, v)
	}
	return append(body, `]},"NodeNames":null}`...)
}

// values parses body and resolves each node, counting the decodes.
func values(t *testing.T, c *NodeCache[string], body []byte) (got []string, decoded int) {
	t.Helper()
	var args FilterArgs
	if err := (&Parser{Known: c}).FilterArgs(body, &args); err != nil {
		t.Fatal(err)
	}
	for _, item := range args.Nodes {
		v, err := c.Value(item, func(raw []byte) (string, error) { decoded++; return string(raw), nil })
		if err != nil {
			t.Fatal(err)
		}
		if v != string(item.Raw) {
			t.Fatalf("got %s for %s", v, item.Raw)
		}
		got = append(got, v)
	}
	return got, decoded
}

func TestNodeCacheDecodesWhatChanged(t *testing.T) {
	c := NewNodeCache[string](1<<20, 10)
	version := make([]int, 50)
	for round, want := range []int{50, 0, 2, 0} {
		if round == 2 {
			version[3], version[40] = 1, 12345
		}
		if _, decoded := values(t, c, nodeList(0, version)); decoded != want {
			t.Errorf("round %d: %d decodes, want %d", round, decoded, want)
		}
	}
	if n, _ := c.Stats(); n != 50 {
		t.Errorf("%d entries", n)
	}
}

func TestNodeCacheIsExact(t *testing.T) {
	c := NewNodeCache[string](1<<20, 0)
	for _, item := range []string{
		`{"metadata":{"name":"a"},"x":1}`, `{"metadata":{"name":"a"},"x":12}`, `{"metadata":{"name":"a"},"x":1 }`, `{"metadata":{"name":"a"}}`,
		`{"metadata":{"name":"a"},"metadata":{"name":"b"}}`, `{"metadata":{"name":"b"}}`, `{"metadata":{"name":"\u0061"}}`, `{"metadata":{"name":"a","name":"c"}}`,
		`{}`, `null`, `{"metadata":{"name":""}}`, `{"metadata":{"name":"a"},"x":1}`,
	} {
		for _, list := range []string{item, item + "," + item, `{"metadata":{"name":"a"}},` + item} {
			values(t, c, []byte(`{"Nodes":{"items":[`+list+`]}}`))
		}
	}
}

func TestNodeCacheKeepsItsBound(t *testing.T) {
	one := NewNodeCache[string](1<<20, 100)
	values(t, one, nodeList(100, make([]int, 1)))
	_, each := one.Stats()
	c := NewNodeCache[string](60*each, 100)
	for round := range 5 {
		_, decoded := values(t, c, nodeList(100, make([]int, 80)))
		if n, size := c.Stats(); n != 60 || size > 60*each {
			t.Fatalf("%d entries of %d bytes", n, size)
		}
		if round > 0 && decoded != 20 {
			t.Errorf("round %d: %d decodes; a list larger than the cache should find 60 of 80", round, decoded)
		}
	}
	// Other nodes take the place of those that are gone.
	for range 20 {
		values(t, c, nodeList(200, make([]int, 60)))
	}
	if _, decoded := values(t, c, nodeList(200, make([]int, 60))); decoded != 0 {
		t.Errorf("%d of the new nodes aren't kept", decoded)
	}
	nothing := NewNodeCache[string](0, 0)
	values(t, nothing, nodeList(0, make([]int, 3)))
	if n, size := nothing.Stats(); n != 0 || size != 0 {
		t.Errorf("a cache of 0 bytes holds %d entries of %d bytes", n, size)
	}
}

func TestNodeCacheForgetsFailures(t *testing.T) {
	c := NewNodeCache[string](1<<20, 0)
	args, err := parseFilterArgs(nodeList(0, make([]int, 1)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if _, err := c.Value(args.Nodes[0], func([]byte) (string, error) { return "", broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	if n, _ := c.Stats(); n != 0 {
		t.Error("a failure was kept")
	}
}

func TestNodeCacheOutlivesTheBody(t *testing.T) {
	c := NewNodeCache[string](1<<20, 0)
	body := nodeList(0, make([]int, 5))
	values(t, c, body)
	clear(body)
	if _, decoded := values(t, c, nodeList(0, make([]int, 5))); decoded != 0 {
		t.Error("the cache shares memory with a body")
	}
}

func TestNodeCacheAndNamesInParallel(t *testing.T) {
	c := NewNodeCache[string](8<<10, 0)
	names := NewNames([]string{"n3", "n1", "n2"})
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			for i := range 100 {
				version := make([]int, 20)
				version[i%20] = g
				values(t, c, nodeList(g*5, version))
				compareFilterArgs(t, &Parser{Names: names, Known: c}, []byte(`{"NodeNames":["n1","n2","n3","n2"]}`))
			}
		})
	}
	group.Wait()
}

func TestBuffers(t *testing.T) {
	b := GetBuffer()
	*b = append(*b, "text"...)
	PutBuffer(b)
	if again := GetBuffer(); len(*again) != 0 {
		t.Error("a buffer isn't empty")
	}
	large := make([]byte, MaxPooledBuffer+1)
	PutBuffer(&large)
	PutBuffer(nil)
	if len(large) == 0 {
		t.Error("a large buffer went into the pool")
	}
}
