package main

import "slices"

// faultRows returns the faults that a named test has to find.
func faultRows() []row {
	all := slices.Concat(engineFaults, decisionFaults, handlerFaults, accessFaults, podlifeFaults, storeFaults, keyedFaults, booksFaults, epochFaults, spoolFaults, scenarioFaults, trapFaults, jobFaults, memoryFaults, webFaults)
	out := make([]row, len(all))
	for i := range all {
		out[i] = all[i].row()
	}
	return out
}
