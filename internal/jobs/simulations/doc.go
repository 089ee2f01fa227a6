// Package simulations keeps questions about what comes next that outlast a call as jobs in the
// store, for whichever replica comes to them. A worker has a whole job for a lease that it
// renews. Each part of the answer that it finishes is stored at once, so that after a kill no
// part is run again; one that was under way begins anew.
package simulations
