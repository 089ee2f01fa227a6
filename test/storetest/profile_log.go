package storetest

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"berth/internal/store"
)

// profileLog wants each configuration that decided to be shown with its text, and one that is not
// as its digest without.
func profileLog(t *testing.T, s store.Store) {
	const text = `{"schedulerName":"größer \\ \"kleiner\""}`
	sum := sha256.Sum256([]byte(text))
	digest := "sha256:" + hex.EncodeToString(sum[:])
	of := func(cluster, id, digest string, second int) *store.Entry {
		d := decision(cluster, id, at(second))
		d.Profile, d.ProfileDigest = "p", digest
		return &store.Entry{Decision: d}
	}
	kept := of("prod", "d1", digest, 1)
	kept.Profile = &store.Profile{Digest: digest, Name: "p", Payload: []byte(text)}
	damaged := of("prod", "d2", "sha256:damaged", 2)
	damaged.Profile = &store.Profile{Digest: "sha256:damaged", Name: "p", Payload: []byte{'{', 0, 0xff}}
	late := of("prod", "d5", digest, 4000)
	late.Decision.Engine = "another program"
	appendAll(t, s, kept, damaged, of("prod", "d3", "sha256:gone", 3), of("prod", "d4", "", 4), late, of("test", "d6", digest, 7))
	rollUp(t, s, "prod")
	same(t, "the configurations", []string{
		digest + "|2|2026-02-28T23:59:59.123456Z|2026-03-01T01:06:38.123456Z|" + text,
		"sha256:damaged|1|2026-03-01T00:00:00.123456Z|2026-03-01T00:00:00.123456Z|-",
		"sha256:gone|1|2026-03-01T00:00:01.123456Z|2026-03-01T00:00:01.123456Z|-",
	}, sorted(t, s, `SELECT profile_digest, decisions, first, last, coalesce(configuration, '-') FROM profile_log WHERE profile = 'p'`))
}
