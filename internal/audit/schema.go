package audit

import (
	"context"
	"fmt"

	"berth/internal/store"
)

// tableSchema stands for the schema in findings.
const tableSchema = "schema"

// Schema returns what of a store's schema is not as its migrations make it. Views that show other
// rows, and triggers and rules that swallow some, leave the chains as they are.
func Schema(ctx context.Context, st store.Seals) ([]Finding, error) {
	faults, err := st.Schema(ctx)
	if err != nil {
		return nil, fmt.Errorf("look at the schema: %w", err)
	}
	list := []Finding{}
	for _, f := range faults {
		list = append(list, Finding{Table: tableSchema, What: string(f.What), ID: f.Object, Detail: f.Detail})
	}
	return list, nil
}

// AddSchema adds what Schema finds to a report that has reached the end of its chain.
func (r *Report) AddSchema(ctx context.Context, st store.Seals) error {
	if r.More {
		return nil
	}
	list, err := Schema(ctx, st)
	for _, f := range list {
		r.add(f)
	}
	return err
}
