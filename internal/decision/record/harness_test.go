package record_test

import (
	"testing"

	"go.uber.org/goleak"

	"berth/test/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Around(m)) }
