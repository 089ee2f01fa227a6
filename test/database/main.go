// Command database keeps a private PostgreSQL for programs of other modules, such
// as test/cluster: it writes the address, and then does what it reads, a word a
// line, each answered by a line: "halt" ends the server at once, "launch" starts
// it again on its data. It ends with its input, and leaves nothing behind.
package main

import (
	"bufio"
	"fmt"
	"os"
	"syscall"

	"berth/test/pgtest"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() (err error) {
	s, err := pgtest.Start(pgtest.Options{})
	if err != nil {
		return err
	}
	defer func() {
		if stopped := s.Stop(); err == nil {
			err = stopped
		}
	}()
	fmt.Println(s.URL())
	words := bufio.NewScanner(os.Stdin)
	for words.Scan() {
		switch words.Text() {
		case "halt":
			err = s.Halt(syscall.SIGINT)
		case "launch":
			err = s.Launch()
		default:
			err = fmt.Errorf("%q is neither halt nor launch", words.Text())
		}
		if err != nil {
			return err
		}
		fmt.Println("done")
	}
	return words.Err()
}
