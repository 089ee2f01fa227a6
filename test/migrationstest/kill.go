package migrationstest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-migrate/migrate/v4/database"
)

// at is the variable of a child process that has the statement of the first file behind which it is
// killed; what is "migration" or "views".
const at = "BERTH_MIGRATION_KILL"

// Child reports whether this process is a child of KillEach, and returns what wraps its driver.
// begun makes a driver run the beginning of a file, and leave it uncommitted.
func Child(begun func(d database.Driver, statements []string) error) (wrap func(database.Driver) database.Driver, is bool) {
	what, text, is := strings.Cut(os.Getenv(at), " ")
	if !is {
		return nil, false
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return func(d database.Driver) database.Driver {
		return &killed{Driver: d, begun: begun, views: what == "views", after: n}
	}, true
}

// killed is a driver whose process is killed amid a file.
type killed struct {
	database.Driver
	begun func(d database.Driver, statements []string) error
	views bool // amid the views, not amid a migration
	after int
	dirty bool // a migration is next
}

// SetVersion implements database.Driver.
func (k *killed) SetVersion(version int, dirty bool) error {
	k.dirty = dirty
	return k.Driver.SetVersion(version, dirty)
}

// Run implements database.Driver.
func (k *killed) Run(r io.Reader) error {
	if k.dirty == k.views {
		return k.Driver.Run(r)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	all := Statements(string(text))
	fmt.Println(len(all))
	if k.after > len(all)+1 {
		return k.Driver.Run(strings.NewReader(string(text)))
	}
	if k.after > len(all) { // it has taken effect, and is not noted
		err = k.Driver.Run(strings.NewReader(string(text)))
	} else {
		err = k.begun(k.Driver, all[:k.after])
	}
	if err != nil {
		return err
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	time.Sleep(time.Minute) // the signal is on its way
	return err
}

// KillEach runs this test binary as a child again and again, each time killed one statement later
// in the first file that it comes to, until one ends by itself. Each continues with what the one
// before left. It returns how many were killed.
func KillEach(t *testing.T, what string, env ...string) (kills int) {
	t.Helper()
	for n := 0; ; n++ {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(append(os.Environ(), env...), fmt.Sprintf("%s=%s %d", at, what, n))
		var complaints strings.Builder
		cmd.Stderr = &complaints
		out, err := cmd.Output()
		if err == nil {
			return kills
		}
		if code := cmd.ProcessState.ExitCode(); code >= 0 { // it was not killed
			t.Fatalf("statement %d, after %d kills: it does not heal: exit %d %s", n, kills, code, complaints.String())
		}
		kills++
		statements, err := strconv.Atoi(strings.TrimSpace(string(out)))
		if err != nil {
			t.Fatalf("statement %d: %q %s", n, out, complaints.String())
		}
		if what == "migration" && n > statements { // the next file's turn
			n = -1
		}
	}
}
