//go:build !linux

package pgtest

func roomy(string) bool { return false }
