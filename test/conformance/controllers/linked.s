// Empty: it lets the package declare functions without bodies, which the linker
// binds to Kubernetes' own (linked.go).
