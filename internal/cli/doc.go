// Package cli is the command line for people: berth, and kubectl berth, the same
// program under a plugin's name. It asks a running server, or takes what kubectl
// prints and decides in the process, without a store and without a record; both
// ways give the same answer, which is shown in the same way.
//
// What is shown keeps to 80 columns unless the terminal is wider or more is
// asked for (-o wide); data goes to stdout, everything else to stderr. It ends
// with 0 where the answer is yes, 2 where it is no, and 1 where something is
// broken.
package cli
