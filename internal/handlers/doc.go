// Package handlers is berth's face over HTTP, put together of its rooms: admit, extender and rest.
// They decode, bound what comes in, call the rooms behind and write their answers; they decide
// nothing themselves. All routes come together in router.go; a handler returns an error, and one
// place writes it.
package handlers
