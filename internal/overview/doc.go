// Package overview answers questions about a whole state at once: which pods wait
// and why, which are garbage, whether the priority classes make sense, and what
// differs between two states. Its functions only read views, so that the server
// and the command line give the same answers.
package overview
