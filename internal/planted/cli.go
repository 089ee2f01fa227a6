package planted

// Faults of the command line.
const (
	// CLINoIsYes ends with 0 where the answer is no.
	CLINoIsYes Fault = "cli-no-is-yes"
	// CLICutsInSilence does not say that something was cut.
	CLICutsInSilence Fault = "cli-cuts-in-silence"
	// CLIBreaksTables gives tables all the room that they ask for.
	CLIBreaksTables Fault = "cli-breaks-tables"
)

func init() {
	All = append(All,
		Plant{CLINoIsYes, "berth ends with 0 where the answer is no", "./internal/cli", "TestGolden"},
		Plant{CLICutsInSilence, "berth cuts cells of a table and does not say so", "./internal/cli", "TestGolden"},
		Plant{CLIBreaksTables, "a table of berth is wider than 80 columns", "./internal/cli", "TestNothingIsWider"},
	)
}
