package main

import (
	"context"
	"net/http"
	"net/url"
)

// class is a priority class of the run.
type class struct {
	name  string
	value int
}

// The classes that the trace's quality of service is put into: latency-sensitive
// and guaranteed tasks before burstable ones, best effort last.
var (
	high   = class{"openb-high", 10000}
	middle = class{"openb-middle", 1000}
	low    = class{"openb-low", 0}
)

func (t task) class() class {
	switch t.qos {
	case "LS", "Guaranteed":
		return high
	case "BE":
		return low
	default:
		return middle
	}
}

// classes stores the run's classes at a server; those of a run before may stay,
// since the value of a class cannot change.
func (c *client) classes(ctx context.Context, cluster string) error {
	for _, k := range []class{high, middle, low} {
		err := c.call(ctx, http.MethodPost, "/v1/priorityclasses?cluster="+url.QueryEscape(cluster),
			object{"metadata": object{"name": k.name}, "value": k.value}, nil, http.StatusCreated, http.StatusConflict)
		if err != nil {
			return err
		}
	}
	return nil
}
