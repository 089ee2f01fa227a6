package audit

// Backends opens an empty store of each backend; see backends.
var Backends = backends
