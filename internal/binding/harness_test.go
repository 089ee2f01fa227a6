package binding_test

import (
	"testing"

	"go.uber.org/goleak"

	"berth/internal/store/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Around(m)) }
