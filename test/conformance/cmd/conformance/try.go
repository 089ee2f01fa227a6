package main

import (
	"context"
	"errors"

	"berth/test/conformance/gen"
)

func try(ctx context.Context, server string, n int, seed uint64, opts gen.Options, out string, keep int) (int, error) {
	return 2, errors.New("not yet")
}
