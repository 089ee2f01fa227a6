// Package enginetest makes clusters to test the engine with: small builders
// for nodes and pods, a seeded generator of random clusters that stress every
// rule, and one large realistic cluster for measurements.
//
// All objects are as an apiserver would hand them over: defaulted and valid.
package enginetest
