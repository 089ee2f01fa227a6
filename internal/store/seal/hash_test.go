package seal

import (
	"bytes"
	"encoding/hex"
	"testing"
	"time"

	"berth/internal/store"
	"berth/internal/store/lists"
)

// The hashes of seals that are stored already do not change.
func TestHashesStay(t *testing.T) {
	at := time.UnixMicro(1_760_000_000_123_456)
	row := lists.NewRow(&store.Decision{
		ID: "0197a1b2-c3d4-7e5f-8a9b-000000000001", Cluster: "prod", Revision: 7, BoundRevision: 8, Verb: "decide", CreatedAt: at, Now: at,
		Namespace: "shop", Pod: "cart", PodUID: "8f14e45f-ceea-467f-a8d2-000000000001", Profile: "default-scheduler",
		ProfileDigest: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", Engine: "v0.1.0", Semantics: "v1.36.3",
		SnapshotDigest: "sha256:aa", PodDigest: "", AnswerDigest: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		Outcome: "Scheduled", Node: "n1", NodesTotal: 5, NodesFeasible: 4, Purpose: "live", Attempt: "0197a1b2-c3d4-7e5f-8a9b-000000000001", Input: []byte{1, 0, 2},
		Failures: []store.Failure{{Plugin: "NodeName", Code: "Unschedulable", Reason: "no", Nodes: 1}},
		Scores:   []store.Score{{Rank: 1, Node: "n1", Total: 100}},
		Facts:    `["","","","s",1,2,{},{},0]`,
		Blockers: `[1,["NodeResourcesFit","Pod","shop","till"]]`, Placement: "0197a1b2-c3d4-7e5f-8a9b-000000000002",
	})
	row.StampID, row.Seq = 3, 9
	values := lists.Stored.Values(row, func(t time.Time) any { return t.UnixMicro() })
	var rows Rows
	if err := rows.Decision(values, row.Stamp); err != nil {
		t.Fatal(err)
	}
	asTimes := lists.Stored.Values(row, func(t time.Time) any { return t }) // as the other backend has them
	if sum, err := new(Hasher).decision(store.SealFormat, asTimes, row.Stamp); err != nil || !bytes.Equal(sum[:], rows.hashes) {
		t.Errorf("the row has the hash %x, with times as such %x, %v", rows.hashes, sum, err)
	}
	if err := rows.Revision(8, []any{"prod", int64(8), "token", nil, []byte{}, []byte{1}, &at}); err == nil {
		t.Error("a value of no column was hashed")
	}
	if err := rows.Revision(8, []any{"prod", int64(8), "token", nil, []byte{}, []byte{1}, at}); err != nil {
		t.Fatal(err)
	}
	head := store.SealHead{Cluster: "prod", Number: 4, Hash: []byte{7, 7}, Seq: 8, Newest: 7}
	s, err := rows.Seal(&head, 9, 8)
	if err != nil {
		t.Fatal(err)
	}
	removal, err := Removal(t.Context(), &head, &store.Removed{Decisions: [][2]int64{{1, 3}}})
	if err != nil {
		t.Fatal(err)
	}
	// As the releases before schema 24 wrote it, without a time.
	removal.Items = []byte(`{"removed":{"decisions":[[1,3]]}}`)
	removal.Hash = Hash(removal)
	as := func(format int64) (hash []byte, first, gone store.Seal) {
		sum, err := new(Hasher).decision(format, values, row.Stamp)
		if err != nil {
			t.Fatal(err)
		}
		first, gone = *s, *removal
		first.Format, first.RowHashes, gone.Format = format, sum[:], format
		first.Hash = Hash(&first)
		gone.Previous = first.Hash
		return sum[:], first, gone
	}
	row15, seal15, removal15 := as(15)
	row16, seal16, removal16 := as(16)
	row25, seal25, removal25 := as(25)
	row28, seal28, removal28 := as(28)
	row30, seal30, removal30 := as(30)
	for _, c := range []struct {
		what, want string
		got        []byte
	}{
		{"row of schema 15", "bdd227f5b70112b38e60c52b9a44e7891103c7d584de7dbe38bf641c5053087c", row15},
		{"seal of schema 15", "e219ef00e105c20d51fb948c1da8271e50fcc03ec6257c8fe06e919ccdf71ecb", seal15.Hash},
		{"removal of schema 15", "1e7a9785ce71ba28fb189f1c562be124f3680742775e26132dd86f1f25790718", Hash(&removal15)},
		{"row of schema 16", "15ff09e6fd90db6c47b9f54ed6d26e97d66ad83957b87dad2cea2a73409df2b6", row16},
		{"seal of schema 16", "7f877e7523808b121ecc86dce2bb7fc2b6891b934192adcc6a7bee17f5bc4af2", seal16.Hash},
		{"removal of schema 16", "730b362fba4298ad3eacf536659a7ecca90e8253b6fe5756ddd641341a5b82fd", Hash(&removal16)},
		{"row of schema 25", "a57a9ec09f5f0fa1d3ac2d277a9004a579eee2ac6ff3cce64c0b7b4927cbd092", row25},
		{"seal of schema 25", "6bbda173df148b2f6c0df479f6f14af8a11ffd2ca991065ab130cf50b719391d", seal25.Hash},
		{"removal of schema 25", "9c0c5864cb23c35c41500e4c07711082a9b02578faa410a986a7a7195ba14fd5", Hash(&removal25)},
		{"row of schema 28", "cdfdd25d7cd2fbd489eebf4264efcc39ad8d89aae0037cb74a50ef6f1eb1b9f2", row28},
		{"seal of schema 28", "92ac5c02a74b209c5a75de7c646e359c9a3839be8822f1a3221f9ef3025804f7", seal28.Hash},
		{"removal of schema 28", "b1bd21ff2bf174c2f65da93b463255cd8428c3f91ed01a28a8d5e12b23fbcabd", Hash(&removal28)},
		{"row of schema 30", "b5df2532dddf8778ddfb2f83851e3ac9b7b63b6957cac8c6c28d3eea242678f7", row30},
		{"seal of schema 30", "49919f37b530e064f9cbd4a81f317db889d7ff1beacc6ea47d4ae628ccf50d91", seal30.Hash},
		{"removal of schema 30", "9099fa536f5f7ac9141aa572dc58585199a63f4a1ac9f690d9a6373d0f52f88d", Hash(&removal30)},
		{"row", "46cc9c1e60ae049183d2931b1f33dd8ce2a691f256d49420d738afb98f33907b", s.RowHashes},
		{"seal", "2d82de6e28e24af914d69d27e2680e9b882c646b0113ddbde22c1a73707ac4e7", s.Hash},
		{"removal", "5588a36d5abbc34b86abb803faca4aff7a96ec3feb3bb90ff8efc842c1b72c9a", removal.Hash},
	} {
		if got := hex.EncodeToString(c.got); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// TestNumberedHash: rows that share a number have one hash, as they are written and as they are
// read, where one driver has other kinds of numbers. It stays as it is.
func TestNumberedHash(t *testing.T) {
	at := time.Unix(1, 5000)
	written := [][]any{{"prod", int64(7), int64(1), nil, "Pod", at}, {"prod", int64(7), int64(2), "x", "Pod", at}}
	var rows Rows
	if err := rows.Numbered(store.SealObjects, 7, written...); err != nil {
		t.Fatal(err)
	}
	sum := rows.items.Rows[store.SealObjects][7]
	const want = "22a946e4b6c1f0cc7d43d7f87e8e3b4cb2f05ecc5e962551ecddc2c5c82a6ec9"
	if got := hex.EncodeToString(sum); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
	read := Reader{Query: QueryOf(store.SealObjects, store.SealFormat), Format: store.SealFormat}
	read.Add([]any{int64(6), "", "prod", int64(6), int32(1), nil, "Pod", at})
	for i, row := range written {
		row[2] = int32(i + 1)
		row[5] = at.UnixMicro()
		read.Add(append([]any{int64(7), ""}, row...))
	}
	if len(read.List) != 2 || read.List[1].Place != 7 || !bytes.Equal(read.List[1].Hash, sum) {
		t.Errorf("read: %+v", read.List)
	}
	read.Add([]any{int64(7), "", true})
	if bytes.Equal(read.List[1].Hash, sum) {
		t.Error("another row of the number does not change the hash")
	}
	if err := rows.Numbered(store.SealClasses, 1, []any{true}); err == nil {
		t.Error("a value of no column was hashed")
	}
}
