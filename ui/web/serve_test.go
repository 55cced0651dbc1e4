package web

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/daemok/daemok/ui/web/browser/example"
)

// pipes is a listener whose connections are pipes.
type pipes struct{ came chan net.Conn }

func (p pipes) Accept() (net.Conn, error) {
	if c, open := <-p.came; open {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error   { close(p.came); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// dial connects, and reads what comes until it is cut off.
func (p pipes) dial(t *testing.T, says string) (cut <-chan struct{}, hangUp func()) {
	t.Helper()
	here, there := net.Pipe()
	p.came <- there
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, bufio.NewReader(here)) // it ends once it is cut off
	}()
	go func() { _, _ = io.WriteString(here, says) }() // it ends with the connection
	synctest.Wait()
	return ended, func() { here.Close() }
}

func isCut(cut <-chan struct{}) bool {
	select {
	case <-cut:
		return true
	default:
		return false
	}
}

func TestConnectionsAreCutOffWhere(t *testing.T) {
	const head = " HTTP/1.1\r\nHost: localhost\r\n"
	for name, c := range map[string]struct {
		says string
		lets time.Duration // so long
	}{
		"they ask for nothing":            {"", readFor},
		"their request does not end":      {"GET /facts" + head, readFor},
		"the body of one does not end":    {"GET /facts" + head + "Content-Length: 9\r\n\r\nx", readFor},
		"they ask for nothing more":       {"GET /facts" + head + "\r\n", idleFor},
		"nothing, as long as they follow": {"GET /stream" + head + "\r\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New(Options{Source: example.New(time.Now(), 1, 1)})
				defer runs(t, s)()
				to := pipes{make(chan net.Conn)}
				h := s.HTTP()
				var done sync.WaitGroup
				done.Go(func() {
					if err := Serve(h, to); err != nil {
						t.Error(err)
					}
				})
				defer done.Wait()
				defer h.Close()
				cut, hangUp := to.dial(t, c.says)
				defer hangUp()
				if c.lets == 0 {
					if after(time.Hour); isCut(cut) || s.Browsers() != 1 {
						t.Error("the stream was cut off")
					}
					return
				}
				if after(c.lets - time.Second); isCut(cut) {
					t.Errorf("it was cut off before %v", c.lets)
				}
				if after(2 * time.Second); !isCut(cut) {
					t.Errorf("it is open after %v", c.lets)
				}
			})
		})
	}
}

func TestMoreConnectionsThanCanBeServedWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Source: example.New(time.Now(), 1, 1)})
		to := pipes{make(chan net.Conn)}
		h := s.HTTP()
		var done sync.WaitGroup
		done.Go(func() { _ = Serve(h, to) })
		defer done.Wait()
		defer h.Close()
		for range connectionsMost {
			_, hangUp := to.dial(t, "")
			defer hangUp()
		}
		here, there := net.Pipe()
		defer here.Close()
		select {
		case to.came <- there:
			t.Fatal("one more was taken at once")
		case <-time.After(readFor / 2):
		}
		to.came <- there // once the first are cut off
		if r, err := http.ReadResponse(bufio.NewReader(asking(here)), nil); err != nil || r.StatusCode != http.StatusOK {
			t.Errorf("got %v, %v", r, err)
		}
	})
}

// asking is what is answered to a request.
func asking(c net.Conn) io.Reader {
	go func() {
		_, _ = io.WriteString(c, "GET /facts HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	}()
	return c
}
