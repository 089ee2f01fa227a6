// Package replays runs batch replays: the decisions of a cluster in a window of
// time, answered again by whichever replica comes to it. The jobs are in the
// store; a worker takes a part at a time and commits its cursor, its counters
// and what differed together.
package replays
