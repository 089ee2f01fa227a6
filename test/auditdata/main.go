// Command auditdata makes a log for audit queries to be measured on. "make" asks a server over HTTP
// as schedulers, controllers, planners and people without rights do, in three clusters; "multiply"
// copies what is in the store by plain SQL, each copy some hours earlier, to millions of decisions;
// "measure" runs the ready queries on it.
//
//	auditdata make -program server -decisions 16000 -- --data-dir DIR
//	auditdata multiply -copies 124 -- --data-dir DIR
//	auditdata measure -- --data-dir DIR
//
// measure prints a line a query: its name, seconds, those of the CPU, rows, and how many partitions
// its plan reads.
//
// Behind -- stands the store as the server takes it: --data-dir DIR or --database-url URL. The
// copies are good for plans and times: their digests and seals are those of the originals.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "auditdata:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("want make, multiply or measure")
	}
	begun := time.Now()
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	program := flags.String("program", "", "make: the server, built")
	decisions := flags.Int64("decisions", 16_000, "make: decisions in all")
	seed := flags.Uint64("seed", 1, "make: what the chances begin with")
	copies := flags.Int("copies", 124, "multiply: copies of what is there, at most 999")
	step := flags.Duration("step", 14*time.Hour, "multiply: by how much a copy is earlier than the one before")
	span := flags.Duration("span", 7*24*time.Hour, "measure: of how much time, until now")
	only := flags.String("only", "", "measure: queries whose names contain this")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	address := flags.Args()
	if len(address) != 2 || address[0] != "--data-dir" && address[0] != "--database-url" {
		return errors.New("want -- --data-dir DIR or -- --database-url URL at the end")
	}
	var err error
	switch args[0] {
	case "make":
		if *program == "" {
			return errors.New("make needs -program")
		}
		err = makeLog(*program, address, *decisions, *seed)
	case "multiply":
		if *copies < 1 || *copies > 999 {
			return errors.New("-copies: want 1 to 999")
		}
		err = multiply(address, *copies, *step)
	case "measure":
		err = measure(address, *span, *only)
	default:
		err = fmt.Errorf("%q is none of make, multiply and measure", args[0])
	}
	fmt.Printf("%s took %s\n", args[0], time.Since(begun).Round(time.Second))
	return err
}
