// Package apiserver judges what is created or replaced by the API server's own code: its defaults,
// conversions and rules, with its feature gates at their defaults.
//
// Nothing that is kept in a record may come from here: these gates are one set for a process, and
// the rules are those of one release (docs/decisions/0130-admission-by-upstream.md).
package apiserver
