package pgtest

import (
	"context"
	"net"
	"path/filepath"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// Pooler plays a pooler in transaction mode over two sessions at target, and returns its address: a
// client keeps a session from a message on until the database reports that it is idle.
func Pooler(tb testing.TB, target string) (url string) {
	tb.Helper()
	free := make(chan *pgconn.HijackedConn, 2)
	for range cap(free) {
		conn, err := pgconn.Connect(tb.Context(), target)
		if err != nil {
			tb.Fatal(err)
		}
		h, err := conn.Hijack()
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = h.Conn.Close() })
		free <- h
	}
	return Listen(tb, target, func(client net.Conn) { pool(client, free) })
}

// pool serves one client.
func pool(client net.Conn, free chan *pgconn.HijackedConn) {
	back := pgproto3.NewBackend(client, client)
	if _, err := back.ReceiveStartupMessage(); err != nil {
		return
	}
	back.Send(&pgproto3.AuthenticationOk{})
	back.Send(&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{0, 0, 0, 1}})
	back.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	if back.Flush() != nil {
		return
	}
	var server *pgconn.HijackedConn
	defer func() {
		if server != nil {
			free <- server
		}
	}()
	for {
		msg, err := back.Receive()
		if err != nil {
			return
		}
		if _, bye := msg.(*pgproto3.Terminate); bye {
			return
		}
		if server == nil {
			server = <-free
		}
		server.Frontend.Send(msg)
		if server.Frontend.Flush() != nil {
			return
		}
		switch msg.(type) {
		case *pgproto3.Query, *pgproto3.Sync:
		default:
			continue // the answer may wait until then
		}
		for idle := false; server != nil; {
			answer, err := server.Frontend.Receive()
			if err != nil {
				return
			}
			back.Send(answer)
			if _, copies := answer.(*pgproto3.CopyInResponse); copies {
				break
			}
			ready, is := answer.(*pgproto3.ReadyForQuery)
			if !is {
				continue
			}
			if idle = ready.TxStatus == 'I'; idle {
				free <- server
				server = nil
			}
			break
		}
		if back.Flush() != nil {
			return
		}
	}
}

// Listen serves a Unix socket, and returns the address that leads to it and else is target.
func Listen(tb testing.TB, target string, serve func(client net.Conn)) (url string) {
	tb.Helper()
	dir := tb.TempDir()
	l, err := new(net.ListenConfig).Listen(context.Background(), "unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		tb.Fatal(err)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[client] = true
			mu.Unlock()
			all.Go(func() {
				defer func() { _ = client.Close() }()
				serve(client)
			})
		}
	})
	tb.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return With(target, "host", dir)
}
