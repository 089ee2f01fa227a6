package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// maxToken bounds a token, as the server does.
const maxToken = 8 << 10

// token returns the API token of --token-file or BERTH_TOKEN, empty without one.
func (a *app) token() (string, error) {
	text := a.Env("BERTH_TOKEN")
	if a.o.tokenFile != "" {
		raw, err := os.ReadFile(a.o.tokenFile)
		if err != nil {
			return "", fmt.Errorf("--token-file: %w", err)
		}
		text = string(raw)
	}
	text = strings.TrimSpace(text)
	if len(text) > maxToken || strings.ContainsAny(text, " \t\r\n") {
		return "", &problem{what: "The token is not one line of 8 KiB at most", next: "server token create --name NAME --role viewer > FILE writes one."}
	}
	return text, nil
}

// authorize keeps the token for calls to the server. It is not sent in clear text to another
// machine.
func (s *server) authorize(token string) error {
	host := s.base.Hostname()
	ip := net.ParseIP(host)
	if token != "" && s.base.Scheme != "https" && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return &problem{what: "A token would go to " + s.base.Redacted() + " in clear text", next: "Use an https URL, or unset BERTH_TOKEN and --token-file."}
	}
	s.token = token
	return nil
}

// trust checks the server's certificate by the CAs of a file instead of the system's.
func (s *server) trust(file string) error {
	if file == "" {
		return nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("--ca: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(raw) {
		return fmt.Errorf("--ca: %s holds no certificate in PEM", file)
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = &tls.Config{RootCAs: roots}
	s.client.Transport = t
	return nil
}

func (a *app) whoamiCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "whoami",
		Short: "Who am I to the server, and what may I do?",
		Long: `Whom the server takes the caller for, and the roles that it grants by cluster
and namespace. Needs --server. The identity is the API token of --token-file or
BERTH_TOKEN; a server on loopback needs none.`,
		Example:           "  BERTH_TOKEN=$(cat token) " + a.name + " whoami --server https://berth.example:8443",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return a.whoami(cmd.Context()) },
	}
}

func (a *app) whoami(ctx context.Context) error {
	if err := a.o.check(); err != nil {
		return err
	}
	if a.o.server == "" {
		return &problem{what: "whoami asks a server, and none is named", next: "Add --server URL, or set BERTH_SERVER."}
	}
	s, err := newServer(a)
	if err != nil {
		return err
	}
	raw, err := s.call(ctx, http.MethodGet, nil, "v1", "whoami")
	if err != nil {
		return err
	}
	if a.o.output == formJSON {
		return a.json(raw)
	}
	var who struct {
		Kind, Name string
		Groups     []string
		Grants     []struct {
			Role                 string
			Clusters, Namespaces []string
		}
	}
	if err := json.Unmarshal(raw, &who); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	text := strings.TrimSpace(who.Kind + " " + who.Name)
	if len(who.Groups) > 0 {
		text += ", in " + strings.Join(who.Groups, ", ")
	}
	for _, g := range who.Grants {
		text += fmt.Sprintf("\n%s: clusters %s, namespaces %s", g.Role, strings.Join(g.Clusters, " "), strings.Join(g.Namespaces, " "))
	}
	if len(who.Grants) == 0 {
		text += "\nmay do nothing: no grant"
	}
	_, err = fmt.Fprintln(a.Out, text)
	return err
}
