package cli

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompareHistory compares with the pods that a server decided about.
func TestCompareHistory(t *testing.T) {
	url, online := uploaded(t)
	res, err := http.Post(url+"/v1/decisions", "application/json", strings.NewReader(`{"snapshot":"prod@latest","podRef":{"namespace":"shop","name":"small"}}`))
	if err != nil || res.StatusCode != http.StatusCreated {
		t.Fatal(res, err)
	}
	res.Body.Close()
	packed := []string{"compare", "--config", filepath.Join("..", "..", "examples", "packed.yaml")}
	for _, c := range []struct {
		of   call
		args []string
		code int
		want string
	}{
		{online, []string{"--since", "2000-01-01T00:00:00Z", "--until", "2100-01-01T00:00:00Z"}, exitNo, "1 pod on"},
		{online, []string{"--since", "2000-01-01T00:00:00Z", "--until", "2001-01-01T00:00:00Z"}, exitBroken, "decisions of prod: not found"},
		{online, []string{"--since", "noon"}, exitBroken, `--since "noon": want an age such as 30d or 12h, or a time`},
		{snapshot(), []string{"--since", "24h"}, exitBroken, "recorded decisions are kept by a server"},
	} {
		if r := c.of.run(t, append(packed, c.args...)...); r.code != c.code || !strings.Contains(r.out+r.err, c.want) {
			t.Errorf("%v: %+v", c.args, r)
		}
	}
}
