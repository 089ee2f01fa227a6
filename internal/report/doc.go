// Package report answers questions about pods and whole states. A story tells what one pod waits
// for, what was tried, and what would have to change for it to run, by the newest revision of its
// cluster and the decision log. An overview tells which pods wait and why, which are garbage,
// whether the priority classes make sense, and what differs between two states. Its functions only
// read, so that the server and the command line give the same answers.
package report
