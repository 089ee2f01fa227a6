package record

import (
	"time"

	"berth/internal/decision"
	"berth/internal/store"
)

// DecodeInput decodes a record's input.
var DecodeInput = decodeInput

// Encode encodes a kind as a record has it.
func Encode(k Kind) ([]byte, error) { return k.input().encode() }

// Evaluated makes the record of an outcome.
func (l *Log) Evaluated(o *decision.Outcome) (*store.Decision, error) {
	return l.evaluated(o, time.Now())
}

// Scheduler is what evaluates the log's questions.
func (l *Log) Scheduler() *decision.Scheduler { return l.scheduler }

// ForgetOverlays empties the scheduler's cache of overlays.
func (l *Log) ForgetOverlays() { l.scheduler = &decision.Scheduler{Configuration: l.Configured()} }

// Noted reports whether an answer about a pod is remembered, and whether its nodes are in memory.
func (l *Log) Noted(cluster, uid string) (noted, held bool) {
	p, ok := l.passed.Get(podUID{cluster, uid})
	return ok, ok && p.nodes.Value() != nil
}

// Pages sets how many records a backfill reads at a time, and changes in one transaction.
func (b *Backfill) Pages(n int) { b.page, b.rows = n, n }
