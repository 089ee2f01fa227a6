//go:build planted

package planted

import "os"

var chosen = Fault(os.Getenv("BERTH_PLANTED"))

// On says that the environment's BERTH_PLANTED chose this fault.
func On(f Fault) bool { return f == chosen }
