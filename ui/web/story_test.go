package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/daemok/daemok/ui/view"
	"github.com/daemok/daemok/ui/web/browser/example"
)

// tape is a browser that keeps what it is sent.
type tape struct {
	header http.Header

	mu   sync.Mutex
	sent bytes.Buffer
}

func (t *tape) Header() http.Header { return t.header }
func (t *tape) WriteHeader(int)     {}
func (t *tape) Flush()              {}

func (t *tape) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sent.Write(b)
}

// events are those that came, as "id name data".
func (t *tape) events() (out []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, text := range strings.Split(t.sent.String(), "\n\n") {
		var id, name, data string
		for _, line := range strings.Split(text, "\n") {
			field, value, _ := strings.Cut(line, ": ")
			switch field {
			case "id":
				id = value
			case "event":
				name = value
			case "data":
				data = value
			}
		}
		if name != "" {
			out = append(out, strings.TrimSpace(id+" "+name+" "+data))
		}
	}
	return out
}

// follow opens a stream until close is called.
func follow(s *Server, header http.Header) (t *tape, hangUp func()) {
	ctx, cancel := context.WithCancel(context.Background())
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/stream", nil)
	r.Header = header
	t = &tape{header: http.Header{}}
	var done sync.WaitGroup
	done.Go(func() { s.Handler().ServeHTTP(t, r) })
	return t, func() { cancel(); done.Wait() }
}

// running serves an example in the bubble of a test.
func running(t *testing.T, nodes, pods int) (*example.Cluster, *Server) {
	t.Helper()
	c := example.New(time.Now(), nodes, pods)
	s := New(Options{Source: c})
	t.Cleanup(runs(t, s))
	return c, s
}

// after lets time go by for what is under way.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func nameOf(event string) string { return strings.Fields(event)[1] }
func idOf(event string) string   { return strings.Fields(event)[0] }

func TestAStreamBeginsWithTheWholeStateAndGoesOnWithWhatChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := running(t, 5, 4)
		browser, hangUp := follow(s, http.Header{})
		defer hangUp()
		after(time.Second)
		c.Become(time.Now(), 2, view.Draining, "2 nodes hold the pods of 3 for less")
		c.Change(time.Now(), 1)
		after(time.Second)
		list := browser.events()
		if len(list) != 2 || nameOf(list[0]) != "state" || nameOf(list[1]) != "change" {
			t.Fatalf("want a state and one change for what came at once, got %d events:\n%s", len(list),
				strings.Join(list, "\n"))
		}
		for _, want := range []string{`"status":"draining"`, `"said":"was disrupted: Underutilized"`} {
			if !strings.Contains(list[1], want) {
				t.Errorf("the change does not say %s: %s", want, list[1])
			}
		}
		if n := strings.Count(list[1], `"head"`); n > 2 {
			t.Errorf("the change says %d nodes, of which 2 changed at most: %s", n, list[1])
		}
	})
}

func TestABrowserThatWasCutOffGetsWhatItMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := running(t, 5, 4)
		browser, hangUp := follow(s, http.Header{})
		after(time.Second)
		seen := idOf(browser.events()[0])
		hangUp()
		for range 3 {
			c.Change(time.Now(), 2)
			after(time.Second)
		}
		again, hangUp := follow(s, http.Header{"Last-Event-Id": {seen}})
		defer hangUp()
		after(time.Second)
		var names []string
		for _, e := range again.events() {
			names = append(names, nameOf(e))
		}
		if want := []string{"change", "change", "change"}; !reflect.DeepEqual(names, want) {
			t.Errorf("got %v, want %v", names, want)
		}
	})
}

func TestABrowserGetsTheWholeStateWhere(t *testing.T) {
	for name, id := range map[string]func(first string, s *Server) string{
		"it comes from another process": func(string, *Server) string { return "another1.1" },
		"its revision is no number":     func(first string, _ *Server) string { return strings.Split(first, ".")[0] + ".x" },
		"its revision is yet to come":   func(_ string, s *Server) string { return fmt.Sprintf("%s.%d", s.feed.epoch, 1<<40) },
		"it missed more than is kept":   func(first string, _ *Server) string { return first },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := running(t, 3, 4)
				browser, hangUp := follow(s, http.Header{})
				after(time.Second)
				first := idOf(browser.events()[0])
				hangUp()
				for range changesMost + 1 {
					c.Change(time.Now(), 3)
					after(time.Second)
				}
				again, hangUp := follow(s, http.Header{"Last-Event-Id": {id(first, s)}})
				defer hangUp()
				after(time.Second)
				if list := again.events(); len(list) != 1 || nameOf(list[0]) != "state" {
					t.Errorf("want the state alone, got %d events", len(list))
				}
			})
		})
	}
}

func TestASilentStreamSaysThatItLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := running(t, 1, 1)
		browser, hangUp := follow(s, http.Header{})
		defer hangUp()
		after(35 * time.Second)
		var beats, points int
		for _, e := range browser.events() {
			if strings.HasPrefix(e, "beat") {
				beats++
			} else if strings.Contains(e, `"points"`) {
				points++
			}
		}
		if beats != 3 || points != 3 { // the first point is of the state
			t.Errorf("got %d signs of life and %d events with points of the history, want 3 and 3:\n%s",
				beats, points, strings.Join(browser.events(), "\n"))
		}
	})
}

func TestStreamsEndWithTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Source: example.New(time.Now(), 1, 1)})
		ctx, cancel := context.WithCancel(context.Background())
		var done sync.WaitGroup
		done.Go(func() { s.Run(ctx) })
		_, hangUp := follow(s, http.Header{})
		synctest.Wait()
		cancel()
		done.Wait()
		hangUp()
		if n := len(s.streams); n != 0 {
			t.Errorf("%d streams are open", n)
		}
	})
}

// passes is what reviews find from now on.
type passes struct {
	mu    sync.Mutex
	finds error
}

func (p *passes) Review(context.Context, string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.finds
}

func (p *passes) become(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finds = err
}

func TestAStreamEndsOnceItsTokenIsNotGoodAnyMore(t *testing.T) {
	for name, c := range map[string]struct {
		finds error
		open  int
	}{
		"the token is good":                  {nil, 1},
		"the token has expired":              {ErrUnknown, 0},
		"the user has lost the right":        {fmt.Errorf("%w: bind user x", ErrForbidden), 0},
		"the API server does not answer now": {errors.New("connection refused"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &passes{}
				s := New(Options{Source: example.New(time.Now(), 1, 1), Tokens: p})
				defer runs(t, s)()
				_, hangUp := follow(s, http.Header{"Authorization": {"Bearer x"}})
				defer hangUp()
				after(time.Minute)
				p.become(c.finds)
				after(beatEvery)
				if s.Browsers() != c.open {
					t.Errorf("%d streams are open, want %d", s.Browsers(), c.open)
				}
			})
		})
	}
}

func TestMoreBrowsersThanAreAllowedAreTurnedAway(t *testing.T) {
	s := New(Options{Source: example.New(time.Now(), 1, 1)})
	for range streamsMost {
		s.streams <- struct{}{}
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/stream", nil)
	s.Handler().ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("got %d %v", w.Code, w.Header())
	}
}

// shown is a state as a browser puts it together.
type shown map[string]*view.Node

// take does what cluster.js does.
func (p shown) take(t *testing.T, m message) {
	t.Helper()
	var got message
	data, err := json.Marshal(m)
	if err == nil {
		err = json.Unmarshal(data, &got)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range got.Gone {
		delete(p, id)
	}
	for id, d := range got.Nodes {
		n := p[id]
		if n == nil {
			n = &view.Node{}
			p[id] = n
		}
		if d.Head != nil {
			labels, pods := n.Labels, n.Pods
			*n = *d.Head
			n.Labels, n.Pods = labels, pods
		}
		if d.Labels != nil {
			n.Labels = *d.Labels
		}
		kept := map[string]view.Pod{}
		for _, pod := range n.Pods {
			kept[pod.Namespace+"/"+pod.Name] = pod
		}
		for _, pod := range d.Gone {
			delete(kept, pod)
		}
		for _, pod := range d.Pods {
			kept[pod.Namespace+"/"+pod.Name] = pod
		}
		n.Pods = nil
		for _, pod := range kept {
			n.Pods = append(n.Pods, pod)
		}
	}
}

// sum prints a state so that it can be compared.
func (p shown) sum() string {
	out := map[string]any{}
	for id, n := range p {
		pods := map[string]view.Pod{}
		for _, pod := range n.Pods {
			pods[pod.Namespace+"/"+pod.Name] = pod
		}
		head := *n
		head.Pods = nil
		out[id] = []any{head, pods}
	}
	data, _ := json.Marshal(out)
	return string(data)
}

func TestWhatChangedAddsUpToTheState(t *testing.T) {
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	c := example.New(at, 20, 6)
	last := c.View()
	follows := shown{}
	follows.take(t, whole(last, nil))
	for i := range 200 {
		at = at.Add(time.Second)
		switch i % 10 {
		case 3:
			c.Become(at, i%20, view.Draining, "drift")
		case 6:
			c.Become(at, i%20, view.Joining, "")
		default:
			c.Change(at, 3)
		}
		now := c.View()
		follows.take(t, between(last, now, nil))
		last = now
		fresh := shown{}
		fresh.take(t, whole(now, nil))
		if got, want := follows.sum(), fresh.sum(); got != want {
			t.Fatalf("after change %d:\ngot  %s\nwant %s", i, got, want)
		}
	}
}

func TestNothingIsSentWhereNothingChanged(t *testing.T) {
	c := example.New(time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC), 3, 3)
	a, b := c.View(), c.View()
	b.At = b.At.Add(time.Minute)
	if m := between(a, b, nil); !m.empty() {
		t.Errorf("got %+v", m)
	}
}

// TestALargeClustersStreamIsSmall is the promise of docs/reference/benchmarks.md: 2,000 nodes, 20 changes a second.
func TestALargeClustersStreamIsSmall(t *testing.T) {
	const seconds, perSecond, most = 10, 20, 50_000
	for name, header := range map[string]http.Header{"plain": {}, "gzip": {"Accept-Encoding": {"gzip"}}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := running(t, 2000, 20)
				browser, hangUp := follow(s, header)
				defer hangUp()
				after(time.Second)
				first := browser.sent.Len()
				for range seconds * perSecond {
					c.Change(time.Now(), 1)
					after(time.Second / perSecond)
				}
				each := (browser.sent.Len() - first) / seconds
				t.Logf("the state: %d bytes; then %d bytes a second", first, each)
				if each > most {
					t.Errorf("%d bytes a second, want %d at most", each, most)
				}
				if header.Get("Accept-Encoding") != "" {
					if _, err := gzip.NewReader(&browser.sent); err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}
