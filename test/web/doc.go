// Package web tries the explorer in a real browser: every page at no, six and 5,000 nodes, narrow
// and wide, light and dark, with and without script, by keyboard, with hostile names, and with
// axe-core for accessibility. It is a module of its own, so that the product needs no browser's
// protocol.
package web
