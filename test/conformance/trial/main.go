package trial

import (
	"context"
	"fmt"
	"os"
	"os/signal"
)

// Main runs a command until it ends or is interrupted, and ends the process with
// its exit code, or with 2 and the error where there is one.
func Main(name string, run func(context.Context) (int, error)) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code, err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		code = 2
	}
	os.Exit(code)
}
