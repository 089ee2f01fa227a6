package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// calmConnections and noisyConnections bound the calls that a tenant keeps at once.
const calmConnections, noisyConnections = 32, 48

// client is a connection that costs little, since it shares the processors with the server.
type client struct {
	net.Conn
	in *bufio.Reader
}

func dial(address string) (*client, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &client{c, bufio.NewReaderSize(c, 64<<10)}, nil
}

// call sends a request as it is and returns the status of the answer.
func (c *client) call(request []byte) (status int, err error) {
	if _, err := c.Write(request); err != nil {
		return 0, err
	}
	length := -1
	for first := true; ; first = false {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		switch name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(":")); {
		case first && len(line) > 12:
			if status, err = strconv.Atoi(string(line[9:12])); err != nil {
				return 0, err
			}
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, err
			}
		case len(name) == 0 && !first && length < 0:
			return 0, errors.New("an answer without a length")
		case len(name) == 0 && !first:
			if status == 429 || status == 503 || status < 300 {
				_, err := c.in.Discard(length)
				return status, err
			}
			text, _ := io.ReadAll(io.LimitReader(c.in, int64(length)))
			return status, fmt.Errorf("status %d: %s", status, text)
		}
	}
}

// order is what a tenant is to send. The noisy tenant is a process of its own, as its client would
// be: what it does must not delay how the others are measured.
type order struct {
	Host    string
	Request []byte
	Rate    float64
	Seed    uint64
	Length  time.Duration
	Noisy   bool
}

// load sends calls at a rate, each when it is due, in times that a seed draws. One that is due
// while all connections wait is sent when the next one is free, and its time counts from when it
// was due; calls of the noisy tenant are not made up for.
func load(o order) (all result, err error) {
	n := calmConnections
	if o.Noisy {
		n = noisyConnections
	}
	free := make(chan *client, n)
	for range n {
		c, err := dial(o.Host)
		if err != nil {
			return result{}, err
		}
		defer func() { _ = c.Close() }()
		free <- c
	}
	rnd, began := rand.New(rand.NewPCG(o.Seed, 1)), time.Now()
	var mu sync.Mutex
	var group sync.WaitGroup
	for due := began; ; {
		due = due.Add(time.Duration(rnd.ExpFloat64() / o.Rate * float64(time.Second)))
		if due.Sub(began) > o.Length || o.Noisy && time.Since(began) > o.Length {
			break
		}
		time.Sleep(time.Until(due))
		c, at := <-free, due
		group.Go(func() {
			status, callErr := c.call(o.Request)
			took := time.Since(at)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case callErr != nil:
				err = callErr
			case status < 300:
				all.Took = append(all.Took, took)
			default:
				all.Refused++
			}
			free <- c
		})
	}
	group.Wait()
	return all, err
}

// apart runs an order in a process of its own.
func apart(o order) (all result, err error) {
	in, err := json.Marshal(o)
	if err != nil {
		return all, err
	}
	// Its processor is its own elsewhere: here it takes what the server and the others leave.
	cmd := exec.Command("nice", "-n", "10", os.Args[0], "-noise")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return all, fmt.Errorf("the noisy tenant: %w", err)
	}
	return all, json.Unmarshal(out, &all)
}

// noise is that process.
func noise() error {
	var o order
	if err := json.NewDecoder(os.Stdin).Decode(&o); err != nil {
		return err
	}
	all, err := load(o)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(all)
}

// round has all tenants send at their share, and the last one at so many times as much.
func (s *server) round(k kind, share float64, times int, length time.Duration) (out [tenants]result, err error) {
	errs := make([]error, tenants)
	var group sync.WaitGroup
	for i := range tenants {
		o := order{Host: s.Host, Request: k.requests[i], Rate: share, Seed: uint64(i), Length: length}
		send := load
		if i == tenants-1 {
			o.Rate, o.Noisy, send = share*float64(times), true, apart
		}
		group.Go(func() { out[i], errs[i] = send(o) })
	}
	group.Wait()
	time.Sleep(200 * time.Millisecond) // what is still written belongs to no round
	return out, errors.Join(errs...)
}

// capacity is how many calls a second the server answers when all tenants send as many as they can.
func (s *server) capacity(k kind, length time.Duration) (float64, error) {
	var n atomic.Int64
	errs := make([]error, tenants*4)
	var group sync.WaitGroup
	began := time.Now()
	for i := range errs {
		group.Go(func() {
			c, err := dial(s.Host)
			for errs[i] = err; errs[i] == nil && time.Since(began) < length; n.Add(1) {
				var status int
				if status, errs[i] = c.call(k.requests[i%tenants]); status >= 300 && errs[i] == nil {
					errs[i] = fmt.Errorf("status %d with four calls of each tenant", status)
				}
			}
			if c != nil {
				_ = c.Close()
			}
		})
	}
	group.Wait()
	return float64(n.Load()) / time.Since(began).Seconds(), errors.Join(errs...)
}
