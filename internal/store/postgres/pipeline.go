package postgres

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"berth/internal/store/lists"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// statement is one of a pipeline.
type statement struct {
	what   string // that it does, for errors
	sql    string
	args   []any
	want   string       // its command tag; "": any
	copied []*lists.Row // of a COPY
}

// oneRow is the tag of an INSERT of one row.
const oneRow = "INSERT 0 1"

// answered reports a command tag that is not the wanted one.
func (s *statement) answered(tag string) error {
	if s.want != "" && s.want != tag {
		return fmt.Errorf("%s: the database answered %s, not %s", s.what, tag, s.want)
	}
	return nil
}

// pipeline runs statements in one round trip: all are sent before the first is answered, and none
// is run behind one that failed. The driver has pipelines without COPY.
func pipeline(ctx context.Context, conn *pgx.Conn, list []statement) error {
	prepared := make([]*pgconn.StatementDescription, len(list))
	for i := range list {
		var err error
		if prepared[i], err = conn.Prepare(ctx, list[i].sql, list[i].sql); err != nil {
			return fmt.Errorf("%s: %w", list[i].what, err)
		}
	}
	pc := conn.PgConn()
	deadline, _ := ctx.Deadline()
	err := pc.Conn().SetDeadline(deadline)
	if err == nil {
		err = send(conn, list, prepared)
	}
	answered := false
	if err == nil {
		answered, err = receive(pc, list)
	}
	if !answered {
		abandon(pc)
		return err
	}
	if unset := pc.Conn().SetDeadline(time.Time{}); err == nil {
		err = unset
	}
	return err
}

// atOnce is from how many bytes on a part of a pipeline is sent.
const atOnce = 64 << 10

// outgoing are buffers of pipelines: one of its own would be most of what a batch allocates.
var outgoing = sync.Pool{New: func() any { return new([]byte) }}

func send(conn *pgx.Conn, list []statement, prepared []*pgconn.StatementDescription) (err error) {
	var values pgx.ExtendedQueryBuilder
	kept := outgoing.Get().(*[]byte)
	buf := (*kept)[:0]
	defer func() {
		if cap(buf) <= 2*atOnce { // not one that a large record has made
			*kept = buf
			outgoing.Put(kept)
		}
	}()
	add := func(messages ...pgproto3.FrontendMessage) {
		for _, m := range messages {
			if err == nil {
				buf, err = m.Encode(buf)
			}
		}
	}
	for i := range list {
		s := &list[i]
		if err := values.Build(conn.TypeMap(), prepared[i], s.args); err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
		add(&pgproto3.Bind{
			PreparedStatement: prepared[i].Name, ParameterFormatCodes: values.ParamFormats, Parameters: values.ParamValues,
		}, &pgproto3.Execute{})
		if s.copied == nil {
			continue
		}
		for at, row := range s.copied {
			size := len(buf) + 1
			buf = append(buf, 'd', 0, 0, 0, 0)
			if at == 0 {
				buf = append(buf, "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"...) // no flags, no extension
			}
			buf = appendRow(buf, row)
			if at == len(s.copied)-1 {
				buf = append(buf, 0xff, 0xff)
			}
			binary.BigEndian.PutUint32(buf[size:], uint32(len(buf)-size)) //nolint:gosec // a record is below 1 GB
			if len(buf) >= atOnce {
				if _, err := conn.PgConn().Conn().Write(buf); err != nil {
					return err
				}
				buf = buf[:0]
			}
		}
		add(&pgproto3.CopyDone{})
	}
	if add(&pgproto3.Sync{}); err == nil {
		_, err = conn.PgConn().Conn().Write(buf)
	}
	return err
}

// receive reads the answers of a pipeline, and reports whether it has read all.
func receive(pc *pgconn.PgConn, list []statement) (all bool, failed error) {
	done := 0
	for {
		msg, err := pc.ReceiveMessage(context.Background())
		if err != nil {
			if failed == nil {
				failed = err
			}
			return false, failed
		}
		switch msg := msg.(type) {
		case *pgproto3.CommandComplete:
			if done == len(list) {
				return false, fmt.Errorf("the database answered more than was asked: %s", msg.CommandTag)
			}
			if failed == nil {
				failed = list[done].answered(string(msg.CommandTag))
			}
			done++
		case *pgproto3.ErrorResponse:
			failed = fmt.Errorf("%s: %w", list[min(done, len(list)-1)].what, pgconn.ErrorResponseToPgError(msg))
		case *pgproto3.ReadyForQuery:
			if failed == nil && done < len(list) {
				failed = fmt.Errorf("%s: no answer", list[done].what)
			}
			return true, failed
		}
	}
}

// abandon closes a connection whose answers were not all read, and ends what the database is at.
func abandon(pc *pgconn.PgConn) {
	if !pc.IsClosed() {
		cancelRequest(pc)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = pc.Close(ctx)
	}
}

func cancelRequest(pc *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = pc.CancelRequest(ctx)
}
