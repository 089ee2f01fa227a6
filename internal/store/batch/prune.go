package batch

import "math"

// PruneChunk is how many revisions one transaction of Prune deletes, since each holds up the
// cluster's writers.
const PruneChunk = 200

// PruneRuns deletes revisions run by run, in chunks. A run begins with a checkpoint (first) and
// ends before the next one (next). Chunk deletes up to PruneChunk of a run and returns how many.
func PruneRuns(checkpoints []int64, chunk func(first, next int64) (int64, error)) (deleted int64, err error) {
	for i, first := range checkpoints {
		next := int64(math.MaxInt64)
		if i+1 < len(checkpoints) {
			next = checkpoints[i+1]
		}
		for n := int64(PruneChunk); n == PruneChunk; deleted += n {
			if n, err = chunk(first, next); err != nil {
				return deleted, err
			}
		}
	}
	return deleted, nil
}
