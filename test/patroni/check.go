//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// result is what became of a trial's answers.
type result struct {
	answered int
	missing  int // not in the database in the end
	named    int // of those: in chain_epochs or in quarantine
	unnamed  int
	twice    int // revisions that two answers have
	outage   time.Duration
}

// check compares every answer with what is stored, and with what the servers say is missing.
func (t *trial) check(ctx context.Context) error {
	l, r := t.load, &t.result
	r.answered, r.outage = len(l.answers), l.outage
	leader := t.stack.leader()
	conn, err := pgx.Connect(ctx, leader.url("berth"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	stored, err := column(ctx, conn, `SELECT id FROM decisions`)
	if err != nil {
		return err
	}
	lists, err := column(ctx, conn, `SELECT ids FROM chain_epochs_log WHERE ids IS NOT NULL`)
	if err != nil {
		return err
	}
	lost := map[string]bool{}
	for list := range lists {
		var ids []string
		if err := json.Unmarshal([]byte(list), &ids); err != nil {
			return err
		}
		for _, id := range ids {
			lost[id] = true
		}
	}
	parked := t.quarantined()
	revisions := map[string]string{}
	var wrong []string
	for _, a := range l.answers {
		if other, ok := revisions[a.BoundSnapshot]; ok && other != a.ID {
			r.twice++
		}
		revisions[a.BoundSnapshot] = a.ID
		switch {
		case stored[a.ID]:
			continue
		case lost[a.ID] || strings.Contains(parked, a.ID):
			r.named++
		default:
			r.unnamed++
			wrong = append(wrong, a.ID+" "+a.BoundSnapshot)
		}
		r.missing++
	}
	for id := range lost {
		if stored[id] {
			wrong = append(wrong, id+" is stored, and said to be lost")
		}
	}
	var errs []error
	if len(wrong) > 0 {
		errs = append(errs, fmt.Errorf("not accounted for: %s", strings.Join(wrong[:min(len(wrong), 5)], ", ")))
	}
	if r.twice > 0 {
		errs = append(errs, errors.New("revisions were given out twice"))
	}
	if len(l.misled) > 0 {
		errs = append(errs, fmt.Errorf("%d answers mislead, such as %s", len(l.misled), l.misled[0]))
	}
	switch {
	case !t.loses && r.missing > 0:
		errs = append(errs, errors.New("answers are missing"))
	case t.loses && r.missing == 0:
		errs = append(errs, errors.New("nothing was lost, so that nothing was shown"))
	}
	return errors.Join(append(errs, t.books(ctx, conn), t.lines(), t.verify(ctx, leader))...)
}

// books checks what the servers wrote down: both have met the new epoch, and there are gaps where
// something is missing, and none elsewhere.
func (t *trial) books(ctx context.Context, conn *pgx.Conn) error {
	var servers, gaps, alarms int
	err := conn.QueryRow(ctx, `SELECT (SELECT count(DISTINCT instance) FROM chain_epochs_log WHERE number > 0 AND cluster = ''),
(SELECT count(*) FROM decision_gaps_log), (SELECT count(*) FROM chain_epochs_log WHERE lost IS DISTINCT FROM 0)`).Scan(&servers, &gaps, &alarms)
	switch {
	case err != nil:
		return err
	case servers != len(t.servers):
		return fmt.Errorf("%d servers wrote that they met the epoch", servers)
	case t.loses != (gaps > 0) || t.loses != (alarms > 0):
		return fmt.Errorf("%d gaps and %d rows of losses", gaps, alarms)
	}
	return nil
}

// lines checks what the servers' logs and /readyz say.
func (t *trial) lines() error {
	var errs []error
	noted := false
	for _, s := range t.servers {
		said := s.said()
		if old := strings.Contains(said, "an old primary takes writes and is not used"); old != t.refuses {
			errs = append(errs, fmt.Errorf("%s: refused an old primary: %v", filepath.Base(s.dir), old))
		}
		if !t.loses && !strings.Contains(said, "which has all that this server remembers") {
			errs = append(errs, fmt.Errorf("%s has no line of the change", filepath.Base(s.dir)))
		}
		resp, err := client.Get(s.url() + "/readyz?verbose")
		if err != nil {
			errs = append(errs, err)
			continue
		}
		var text strings.Builder
		errs = append(errs, resp.Write(&text), resp.Body.Close())
		noted = noted || strings.Contains(text.String(), "the failover noticed at")
	}
	if noted != t.loses {
		errs = append(errs, fmt.Errorf("/readyz names a loss: %v", noted))
	}
	return errors.Join(errs...)
}

// quarantined is what the spools set aside.
func (t *trial) quarantined() string {
	var all strings.Builder
	for _, s := range t.servers {
		files, _ := filepath.Glob(filepath.Join(s.dir, "spool", "quarantine-*.jsonl")) // the pattern is sound
		for _, f := range files {
			b, _ := os.ReadFile(f)
			all.Write(b)
		}
	}
	return all.String()
}

func column(ctx context.Context, conn *pgx.Conn, query string) (map[string]bool, error) {
	rows, err := conn.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	set := map[string]bool{}
	for _, v := range list {
		set[v] = true
	}
	return set, err
}
