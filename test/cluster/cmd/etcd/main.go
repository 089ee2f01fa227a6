// Command etcd is one embedded etcd member on loopback, for the suite's
// apiserver. It does not sync to disk: the suite throws its data away.
package main

import (
	"flag"
	"log"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"go.etcd.io/etcd/server/v3/embed"
)

func main() {
	dir := flag.String("data-dir", "", "where the member keeps its data")
	client := flag.String("client", "127.0.0.1:0", "address for clients")
	peer := flag.String("peer", "127.0.0.1:0", "address for peers; there are none")
	flag.Parse()
	if err := run(*dir, *client, *peer); err != nil {
		log.Fatal(err)
	}
}

func run(dir, client, peer string) error {
	c, p := url.URL{Scheme: "http", Host: client}, url.URL{Scheme: "http", Host: peer}
	cfg := embed.NewConfig()
	cfg.Dir = dir
	cfg.LogLevel = "warn"
	cfg.UnsafeNoFsync = true
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{c}, []url.URL{c}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{p}, []url.URL{p}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.QuotaBackendBytes = 4 << 30
	member, err := embed.StartEtcd(cfg)
	if err != nil {
		return err
	}
	defer member.Close()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	select {
	case <-member.Server.ReadyNotify():
	case err := <-member.Err():
		return err
	case <-stop:
		return nil
	}
	select {
	case err := <-member.Err():
		return err
	case <-stop:
		return nil
	}
}
