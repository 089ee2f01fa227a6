package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"berth/internal/apiclient"
)

// admin is the admin listener of a server.
type admin struct {
	address string
	client  *http.Client
}

func (a *app) adminFlag(f *pflag.FlagSet, address *string) {
	f.StringVar(address, "admin", a.Env("BERTH_ADMIN_LISTEN"), "HOST:PORT of the server's admin listener [$BERTH_ADMIN_LISTEN]")
}

func newAdmin(address string) *admin {
	address = strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/")
	return &admin{address: address, client: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}}
}

// get reads a path, as JSON where it has that.
func (d *admin) get(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.address+path, nil)
	if err != nil {
		return nil, fmt.Errorf("--admin: %w", err)
	}
	req.Header.Set("Accept", "application/json, text/plain")
	resp, err := d.client.Do(req)
	if err != nil {
		return nil, &problem{what: "ask the admin listener", why: err, next: "Is the server started with --admin-listen? Elsewhere: kubectl port-forward."}
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, apiclient.MaxAnswer))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.200s", path, resp.Status, body)
	}
	return body, err
}
