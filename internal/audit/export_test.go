package audit

// Unpack lets the tests outside the package read a stored input.
var Unpack = unpack

// Backends opens an empty store of each backend; see backends.
var Backends = backends
