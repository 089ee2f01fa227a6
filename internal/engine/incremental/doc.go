// Package incremental decides one question after the other as engine.Decide does, and keeps what
// rules found from one to the next: a memo for each kind of pod runs the rules of its decisions.
package incremental
