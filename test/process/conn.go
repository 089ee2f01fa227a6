package process

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
)

// Conn is a connection of a client that costs little, since it shares the processors with the
// server that it measures.
type Conn struct {
	net.Conn
	in     *bufio.Reader
	answer []byte
}

// Dial connects to an address and a port.
func Dial(address string) (*Conn, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &Conn{Conn: c, in: bufio.NewReaderSize(c, 64<<10)}, nil
}

// Call sends a request as it is and reads the answer, whose status has to be the wanted one. What
// it returns is valid until the next call.
func (c *Conn) Call(request []byte, want int) ([]byte, error) {
	if _, err := c.Write(request); err != nil {
		return nil, err
	}
	status, length := "", -1
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		line = bytes.TrimSpace(line)
		switch name, value, _ := bytes.Cut(line, []byte(":")); {
		case status == "":
			status = string(line)
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return nil, err
			}
		case len(name) == 0:
			if length < 0 {
				return nil, fmt.Errorf("%s: an answer without Content-Length", status)
			}
			if cap(c.answer) < length {
				c.answer = make([]byte, length)
			}
			c.answer = c.answer[:length]
			if _, err := io.ReadFull(c.in, c.answer); err != nil {
				return nil, err
			}
			if _, rest, _ := bytes.Cut([]byte(status), []byte(" ")); !bytes.HasPrefix(rest, []byte(strconv.Itoa(want))) {
				return nil, fmt.Errorf("%s, not %d %s: %.300s", status, want, http.StatusText(want), c.answer)
			}
			return c.answer, nil
		}
	}
}

// Post is a request with a body of JSON, for Call.
func Post(path, body string) []byte {
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
}
