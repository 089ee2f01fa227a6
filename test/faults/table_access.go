package main

// accessFaults are faults of identities, rights and masks, and of the hash chain.
var accessFaults = []fault{
	{"access-expiry-unchecked", "a token is valid after it has expired", "./internal/access", "TestTokensLive", []edit{
		{"internal/access/tokens.go", `(t.ExpiresAt == nil || now.Before(*t.ExpiresAt))`, `(t.ExpiresAt == nil || !now.IsZero())`},
	}},
	{"access-revoked-accepted", "a token is valid after it was revoked", "./internal/access", "TestTokensLive", []edit{
		{"internal/access/tokens.go", `return t.RevokedAt == nil && (`, `return (`},
	}},
	{"access-audience-unchecked", "a JWT for another service is taken", "./internal/access", "TestOIDC", []edit{
		{"internal/access/oidc.go", `ClientID: v.o.Audience, `, `SkipClientIDCheck: true, `},
	}},
	{"access-viewer-binds", "every role may do everything", "./internal/access", "TestMay", []edit{
		{"internal/access/rights.go", `return roles[b.Role] >= r && matches(b.Clusters, cluster) && matches`, `return matches(b.Clusters, cluster) && matches`},
	}},
	{"access-namespace-unchecked", "a grant for a namespace holds in the whole cluster", "./internal/access", "TestMay", []edit{
		{"internal/access/rights.go", ` && matches(b.Namespaces, namespace)`, ``},
	}},
	{"access-certificate-unverified", "a certificate that no CA signed is an identity", "./internal/handlers", "TestIdentities", []edit{
		{"internal/access/authenticate.go", `len(r.TLS.VerifiedChains) == 0 {`, `len(r.TLS.PeerCertificates) == 0 {`},
		{"internal/access/authenticate.go", `cert := r.TLS.VerifiedChains[0][0]`, `cert := r.TLS.PeerCertificates[0]`},
	}},
	{"access-other-listeners-ca", "kube-scheduler's listener takes certificates of REST's CA", "./cmd/server", "TestHandshakes", []edit{
		{"cmd/server/listen.go", `s.Extender.Listen, &s.Extender.TLS, log)`, `s.Extender.Listen, &s.TLS, log)`},
	}},
	{"placement-namespaces-unchecked", "a placement binds pods of namespaces that its caller has no right in", "./internal/handlers", "TestPlacementRights", []edit{
		{"internal/handlers/admit/guarded_placements.go", `if err := MayPod(ctx, right, v.Cluster, namespace); err != nil {`, `if err := MayPod(ctx, right, v.Cluster, namespace); err != nil && false {`},
	}},
	{"hold-namespaces-unchecked", "a caller sees and ends holds with pods that it may not see", "./internal/handlers", "TestHoldRights", []edit{
		{"internal/handlers/admit/guarded_placements.go", `return !access.From(ctx).Grants.May(access.View, h.Cluster, namespace)`, `return false`},
	}},
	{"hold-ended-without-the-right", "a caller who may look at a hold ends it", "./internal/handlers", "TestHoldRights", []edit{
		{"internal/handlers/admit/guarded_placements.go", `if err := MayPod(ctx, access.Bind, h.Cluster, namespace); err != nil {`, `if err := MayPod(ctx, access.View, h.Cluster, namespace); err != nil {`},
	}},
	{"mask-story-unmasked", "a story names victims of other namespaces", "./internal/handlers", "TestNoNameOfAnotherNamespace", []edit{
		{"internal/handlers/rest/story.go", `func(ans *decision.Answer) { admit.Mask(ctx, ans) }`, `func(*decision.Answer) {}`},
	}},
	{"mask-group-names-terms", "a group of nodes names the term of another namespace's pod", "./internal/handlers", "TestNoNameOfAnotherNamespace", []edit{
		{"internal/handlers/admit/mask.go", `if reason == engine.CauseOthersAntiAffinityViolated {`, `if reason == "" {`},
	}},
	{"mask-diff-unfiltered", "a diff lists objects of other namespaces", "./internal/handlers", "TestNoNameOfAnotherNamespace", []edit{
		{"internal/report/diff.go", `sees != nil && !sees(k.Namespace)`, `sees != nil && k.Name == ""`},
	}},
	{"access-settings-for-all", "the settings are shown to every caller", "./internal/handlers/web", "TestSettingsAreForAdmins", []edit{
		{"internal/handlers/web/settings.go", `!who.Grants.May(access.Administer, "", "") {`, `len(who.Grants) == 0 {`},
	}},
	{"chain-hash-leaves-out", "the hash of a decision leaves out a column", "./internal/audit", "TestEveryColumnIsChecked", []edit{
		{"internal/store/seal/tables.go", `c.Kind != store.Place &&`, `c.Kind != store.Place && c.Name != "node" &&`},
	}},
	{"chain-seal-leaves-out", "the hash of a seal leaves out whether rows were added or taken away", "./internal/audit", "TestEveryColumnIsChecked", []edit{
		{"internal/store/seal/seal.go", `h.text(string(s.Kind))`, ``},
	}},
	{"chain-missing-row-unseen", "a decision that was taken out of the log is not missed", "./internal/audit", "TestTamperings", []edit{
		{"internal/audit/rows.go", `c.absent(store.SealDecisions, s.Number, from, "")`, ``},
	}},
	{"chain-missing-seal-unseen", "seals that were taken out of the middle are not missed", "./internal/audit", "TestTamperings", []edit{
		{"internal/audit/verify.go", `case s.Number != c.at.Number+1:`, `case s.Number <= c.at.Number:`},
	}},
	{"chain-without-beginning-unseen", "a cluster whose seals and their count were removed is older than its chain", "./internal/audit", "TestTamperings", []edit{
		{"internal/audit/verify.go", `if h.Beginning > 0 || h.Number == 0`, `if h.Number == 0 || h.Number == 0`},
	}},
	{"books-put-back-unseen", "the books of a cluster are not compared with what is stored", "./internal/audit", "TestTamperings", []edit{
		{"internal/audit/verify.go", `return c.r, c.ledger(ctx)`, `return c.r, nil`},
	}},
	{"chain-moved-row-unnamed", "decisions that changed places are not told apart from changed ones", "./internal/audit", "TestTamperings", []edit{
		{"internal/audit/rows.go", `if len(row.Hash) > 0 && bytes.Equal(`, `if len(row.Hash) == 0 && bytes.Equal(`},
	}},
	{"chain-anchor-ignored", "a chain that was written anew passes for that of the anchor", "./internal/audit", "TestAnchor", []edit{
		{"internal/audit/verify.go", `if a.Hash != hex.EncodeToString(s.Hash) {`, `if a.Hash == "" {`},
	}},
}
