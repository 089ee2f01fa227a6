package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"berth/internal/handlers/web"
	"berth/internal/ops/admin"
)

const adminFlag = "--admin-listen"

// checkAdmin refuses an address that other machines reach, whatever else is set: there is no
// authentication behind it.
func checkAdmin(address string) error {
	if address == "" {
		return nil
	}
	local, err := onLoopback(adminFlag, address)
	if err == nil && !local {
		err = fmt.Errorf("%s %s can be reached from outside: use a loopback address such as 127.0.0.1:6060, and kubectl port-forward or ssh -L from elsewhere", adminFlag, address)
	}
	return err
}

// listenAdmin opens the admin listener; nil where there is none. A name may lead anywhere, so that
// the address that it led to is checked, too.
func listenAdmin(address string) (net.Listener, error) {
	if address == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w%s", adminFlag, address, err, addressHint(adminFlag, err))
	}
	if err := checkAdmin(l.Addr().String()); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// serveAdmin serves until ctx ends. There is no deadline for an answer: a profile takes as long as
// it was asked to.
func serveAdmin(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger) {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	log.Info("admin serves", slog.String("url", "http://"+l.Addr().String()+"/"))
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		log.Error("the admin listener has ended", slog.Any("error", err))
	}
}

// adminFlags returns the settings as the admin listener has them.
func adminFlags(list []web.Setting) []admin.Flag {
	flags := make([]admin.Flag, len(list))
	for i, f := range list {
		// The settings that name clusters are --follow and those of clusters.
		flags[i] = admin.Flag{Name: f.Name, Value: f.Value, From: f.From, Named: f.Name == "follow" || strings.Contains(f.Name, "cluster")}
	}
	return flags
}
