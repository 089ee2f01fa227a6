package decisionlog

// Backends opens an empty store of each backend; see backends.
var Backends = backends
