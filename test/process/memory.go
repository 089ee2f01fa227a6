package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// Within returns a command that has so many bytes of memory: in a cgroup, which is to be removed
// once it has ended, or with GOMEMLIMIT where none can be made; then cgroup is "".
func Within(memory int, program string, args ...string) (cmd *exec.Cmd, cgroup string) {
	if cgroup = makeCgroup(memory); cgroup == "" {
		cmd = exec.Command(program, args...)
		cmd.Env = append(os.Environ(), "GOMEMLIMIT="+strconv.Itoa(memory/100*85))
		return cmd, ""
	}
	// It begins in the cgroup, so that it finds its limit there, as in a container.
	begin := []string{"-c", `echo $$ > "$0" && exec "$@"`, filepath.Join(cgroup, "cgroup.procs"), program}
	return exec.Command("sh", append(begin, args...)...), cgroup
}

func makeCgroup(memory int) string {
	for base, limit := range map[string]string{"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"} {
		if _, err := os.Stat(filepath.Join(base, "cgroup.procs")); err != nil {
			continue // a plain directory would take the files, too
		}
		at := filepath.Join(base, "berth-test-"+strconv.Itoa(os.Getpid()))
		if os.Mkdir(at, 0o755) != nil {
			continue
		}
		if os.WriteFile(filepath.Join(at, limit), []byte(strconv.Itoa(memory)), 0o600) == nil {
			return at
		}
		_ = os.Remove(at)
	}
	return ""
}
