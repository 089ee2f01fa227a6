package deploy

import (
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
)

// TestCompose loads docker-compose.yml as Docker does: against the schema of the Compose
// specification, with anchors resolved and each dependency there.
func TestCompose(t *testing.T) {
	o, err := cli.NewProjectOptions([]string{"../../docker-compose.yml"}, cli.WithName("berth"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := o.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckContainerNameUnicity(); err != nil || len(p.Services) != 4 {
		t.Errorf("%d services: %v", len(p.Services), err)
	}
}
