package binding_test

import (
	"testing"

	"go.uber.org/goleak"

	"berth/internal/decisionlog/logtest"
	"berth/internal/store/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Around(m)) }

type fixture = logtest.Fixture

var (
	open      = logtest.Open
	profile   = logtest.Profile
	object    = logtest.Object
	node      = logtest.Node
	pod       = logtest.Pod
	held      = logtest.Held
	nominated = logtest.Nominated
	storedPod = logtest.StoredPod
	podKey    = logtest.PodKey
	upload    = logtest.Upload
	sample    = logtest.Sample
	text      = logtest.Text
	decide    = logtest.Decide
	portPod   = logtest.PortPod
	through   = logtest.Through
	thousands = logtest.Thousands
)
