package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// The names that the trace's machines and tasks go by as Kubernetes objects.
const (
	gpuResource = "alibabacloud.com/gpu-count"
	gpuModel    = "alibabacloud.com/gpu-card-model"
	nodesFile   = "openb_node_list_all_node.csv"
	podsFile    = "openb_pod_list_default.csv"
)

// machine is a row of the node list.
type machine struct {
	name                string
	cpuMilli, memoryMiB int64
	gpus                int64
	model               string
}

// task is a row of the pod list. Times are seconds from the trace's start.
type task struct {
	name                string
	cpuMilli, memoryMiB int64
	gpus                int64
	models              []string
	qos                 string
	created, deleted    int64
}

// rows reads a CSV file by column name.
func rows(path string, each func(get func(column string) string) error) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open trace: %w", err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	head, err := r.Read()
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	at := map[string]int{}
	for i, name := range head {
		at[name] = i
	}
	for line := 2; ; line++ {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		missing := ""
		err = each(func(column string) string {
			i, ok := at[column]
			if !ok {
				missing = column
				return ""
			}
			return rec[i]
		})
		if missing != "" {
			return fmt.Errorf("%s has no column %s", path, missing)
		}
		if err != nil {
			return fmt.Errorf("%s, line %d: %w", path, line, err)
		}
	}
}

// number parses a column; an empty one is 0.
func number(column, s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("column %s: %q is not a number", column, s)
	}
	return int64(f), nil
}

// numbers fills several columns at once.
func numbers(get func(string) string, into map[string]*int64) error {
	for column, p := range into {
		n, err := number(column, get(column))
		if err != nil {
			return err
		}
		*p = n
	}
	return nil
}

func readMachines(dir string) ([]machine, error) {
	var out []machine
	err := rows(filepath.Join(dir, nodesFile), func(get func(string) string) error {
		m := machine{name: get("sn"), model: get("model")}
		err := numbers(get, map[string]*int64{"cpu_milli": &m.cpuMilli, "memory_mib": &m.memoryMiB, "gpu": &m.gpus})
		out = append(out, m)
		return err
	})
	return out, err
}

// readTasks returns the tasks in order of creation, as the trace has them where
// two were created in the same second.
func readTasks(dir, file string) ([]task, error) {
	var out []task
	err := rows(filepath.Join(dir, file), func(get func(string) string) error {
		t := task{name: get("name"), qos: get("qos")}
		if spec := get("gpu_spec"); spec != "" {
			t.models = strings.Split(spec, "|")
		}
		err := numbers(get, map[string]*int64{
			"cpu_milli": &t.cpuMilli, "memory_mib": &t.memoryMiB, "num_gpu": &t.gpus,
			"creation_time": &t.created, "deletion_time": &t.deleted,
		})
		out = append(out, t)
		return err
	})
	sort.SliceStable(out, func(i, j int) bool { return out[i].created < out[j].created })
	return out, err
}

type object map[string]any

// node is a machine as kubectl would print it.
func (m machine) node() object {
	labels := object{"kubernetes.io/hostname": m.name}
	offer := object{"cpu": fmt.Sprintf("%dm", m.cpuMilli), "memory": fmt.Sprintf("%dMi", m.memoryMiB), "pods": "110"}
	if m.gpus > 0 {
		offer[gpuResource] = strconv.FormatInt(m.gpus, 10)
	}
	if m.model != "" {
		labels[gpuModel] = m.model
	}
	return object{
		"apiVersion": "v1", "kind": "Node",
		"metadata": object{"name": m.name, "labels": labels},
		"status":   object{"allocatable": offer, "capacity": offer},
	}
}

// pod is a task as a pending pod, in a priority class or in none.
func (t task) pod(class string) object {
	requests := object{"cpu": fmt.Sprintf("%dm", t.cpuMilli), "memory": fmt.Sprintf("%dMi", t.memoryMiB)}
	resources := object{"requests": requests}
	if t.gpus > 0 {
		n := strconv.FormatInt(t.gpus, 10)
		requests[gpuResource] = n
		resources["limits"] = object{gpuResource: n}
	}
	spec := object{
		"containers": []object{{"name": "main", "image": "registry.example/task:1", "resources": resources}},
	}
	if class != "" {
		spec["priorityClassName"] = class
	}
	if len(t.models) > 0 {
		spec["affinity"] = object{"nodeAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": object{
			"nodeSelectorTerms": []object{{"matchExpressions": []object{{"key": gpuModel, "operator": "In", "values": t.models}}}},
		}}}
	}
	return object{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": object{"name": t.name, "namespace": "openb", "labels": object{"qos": t.qos}},
		"spec":     spec,
	}
}
