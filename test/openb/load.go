package main

import "fmt"

// thin leaves a share of the machines, taken evenly from the whole list.
func thin(machines []machine, share float64) ([]machine, error) {
	if share <= 0 || share > 1 {
		return nil, fmt.Errorf("--machines is %v, want a share of more than 0 and at most 1", share)
	}
	var out []machine
	for i, m := range machines {
		if int(float64(i+1)*share) > int(float64(i)*share) {
			out = append(out, m)
		}
	}
	return out, nil
}

// stretch makes tasks last longer, or less long.
func stretch(tasks []task, factor float64) ([]task, error) {
	if factor <= 0 {
		return nil, fmt.Errorf("--stretch is %v, want more than 0", factor)
	}
	out := make([]task, len(tasks))
	for i, t := range tasks {
		t.deleted = t.created + int64(float64(t.deleted-t.created)*factor)
		out[i] = t
	}
	return out, nil
}
