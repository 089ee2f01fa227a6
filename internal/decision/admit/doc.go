// Package admit changes the state of a cluster that berth itself keeps, and admits
// what is changed as an apiserver would: priorities are resolved once, a bound pod
// stays bound, and what an update may not change is refused field by field.
package admit
