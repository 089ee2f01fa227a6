package rest

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"weak"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"berth/internal/revision"
	"berth/internal/scenario"
	"berth/internal/store"
)

// gaugedShapes is how many shapes of a cluster are shown, the most common first.
const gaugedShapes = 5

// getCapacity measures a cluster.
//
//	@Summary		How full a cluster is, and how much of what is free its own pods could use
//	@Description	Requested and allocatable per resource, over nodes, zones and pools; what is free in total, stranded, and in pieces of the most common sizes of the cluster's pods; fragmentation; the least number of nodes that each resource by itself needs. By resources alone: taints, affinity and the like are for fit.
//	@Tags			scenarios
//	@Produce		json
//	@Param			cluster		path		string	true	"the cluster"
//	@Param			pool		query		string	false	"the label of nodes that pools are told by; that of the provider if absent"
//	@Param			snapshot	query		string	false	"a revision of the cluster, such as prod@3; the newest if absent"
//	@Success		200			{object}	scenario.Capacity
//	@Failure		400,401,403,404,409,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/clusters/{cluster}/capacity [get]
func (a *API) getCapacity(w http.ResponseWriter, r *http.Request) error {
	return measureAt(a, w, r, scenario.MeasureCapacity, "pool")
}

// capacities remembers what was measured, so that a cluster is measured at most once an interval,
// and only where its state has changed.
type capacities struct {
	mu    sync.Mutex
	known map[string]measured // by cluster
	kept  store.Capacities    // nil: nothing is stored
}

type measured struct {
	view weak.Pointer[revision.View]
	at   time.Time
	*scenario.Capacity
}

// watchCapacity shows how full the clusters in memory are. The scrape measures, and decisions never
// wait for it.
func (a *API) watchCapacity(meter metric.Meter) error {
	if meter == nil {
		meter = noop.NewMeterProvider().Meter("")
	}
	var errs []error
	var all []metric.Observable
	gauge := func(name, about string) metric.Int64ObservableGauge {
		g, err := meter.Int64ObservableGauge("berth.capacity."+name, metric.WithDescription(about))
		errs, all = append(errs, err), append(all, g)
		return g
	}
	allocatable := gauge("allocatable", "What nodes have of a resource, cpu in millicores.")
	requested := gauge("requested", "What pods request of a resource.")
	free := gauge("free", "What is free of a resource on nodes that are not cordoned.")
	stranded := gauge("stranded", "What of it is on nodes without room for any common shape of pods.")
	room := gauge("room", "How many pods of a common shape there is room for, by resources alone.")
	inUse := gauge("nodes_in_use", "Nodes with pods that are no daemon's.")
	bound := gauge("nodes_bound", "The least number of nodes that each resource by itself needs for these pods.")
	if err := errors.Join(errs...); err != nil {
		return err
	}
	_, err := meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		for name, c := range a.measureHeld(ctx) {
			in := attribute.String("cluster", name)
			o.ObserveInt64(inUse, int64(c.Nodes.InUse), metric.WithAttributes(in))
			o.ObserveInt64(bound, int64(c.Nodes.Bound), metric.WithAttributes(in))
			for i := range c.Resources {
				r := &c.Resources[i]
				of := metric.WithAttributes(in, attribute.String("resource", r.Resource))
				o.ObserveInt64(allocatable, r.Allocatable, of)
				o.ObserveInt64(requested, r.Requested, of)
				o.ObserveInt64(free, r.Free, of)
				o.ObserveInt64(stranded, r.Stranded, of)
			}
			for _, s := range c.Shapes[:min(len(c.Shapes), gaugedShapes)] {
				o.ObserveInt64(room, s.Room, metric.WithAttributes(in, attribute.String("shape", shapeLabel(s.Requests))))
			}
		}
		return nil
	}, all...)
	return err
}

// shapeLabel names a shape by what it requests, such as cpu=250,memory=1048576.
func shapeLabel(requests map[string]int64) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		parts = append(parts, name+"="+strconv.FormatInt(requests[name], 10))
	}
	return strings.Join(parts, ",")
}

// measureHeld measures the clusters in memory. One that cannot be measured now keeps its figures.
func (a *API) measureHeld(ctx context.Context) map[string]measured {
	if a.clusters == nil || a.Limits.CapacityInterval <= 0 {
		return nil
	}
	c, now := &a.capacities, time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	fresh := map[string]measured{}
	var rows []store.Capacity
	for _, v := range a.clusters.Held() {
		m, known := c.known[v.Cluster]
		if !known || m.view.Value() != v && now.Sub(m.at) >= a.Limits.CapacityInterval {
			if out, err := scenario.MeasureCapacity(ctx, v, ""); err == nil {
				m = measured{weak.Make(v), now, out}
				rows = appendRows(rows, v, &m)
			}
		}
		if m.Capacity != nil {
			fresh[v.Cluster] = m
		}
	}
	c.known = fresh
	a.keepCapacity(ctx, rows)
	return fresh
}

func appendRows(rows []store.Capacity, v *revision.View, m *measured) []store.Capacity {
	for i := range m.Resources {
		r := &m.Resources[i]
		rows = append(rows, store.Capacity{
			Cluster: v.Cluster, Revision: v.Revision, MeasuredAt: m.at, Resource: r.Resource,
			Allocatable: r.Allocatable, Requested: r.Requested, Free: r.Free, Stranded: r.Stranded, Fragmentation: r.Fragmentation,
			Nodes: m.Nodes.Total, NodesInUse: m.Nodes.InUse, NodesBound: m.Nodes.Bound,
		})
	}
	return rows
}

// keepCapacity writes what was measured. A store that does not answer costs the scrape a second,
// and these rows.
func (a *API) keepCapacity(ctx context.Context, rows []store.Capacity) {
	if a.capacities.kept == nil || len(rows) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := a.capacities.kept.PutCapacities(ctx, rows); err != nil {
		a.Log.LogAttrs(ctx, slog.LevelWarn, "capacity was measured and not stored", slog.String("error", err.Error()))
	}
}
