// Package cli is the command line for people: berth, and kubectl berth, the same program under a
// plugin's name. It queries a running server, or reads what kubectl prints and decides in the
// process, without a store and without a record. Both ways have the same answer and the same
// output. Output keeps to 80 columns unless the terminal is wider or -o wide is given; data goes to
// stdout, everything else to stderr. The exit code is 0 for yes, 2 for no, and 1 for a failure.
package cli
