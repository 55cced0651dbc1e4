package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/daemok/daemok/ui/view"
	"github.com/daemok/daemok/ui/web/browser/example"
)

// steady is a source whose cluster does not change, while its clock goes on, ahead of this host's.
type steady struct {
	view.Cluster

	ahead   time.Duration
	changed chan struct{}
}

func (s *steady) View() *view.Cluster {
	c := s.Cluster
	c.At = time.Now().Add(s.ahead)
	return &c
}

func (s *steady) Changed() <-chan struct{} { return s.changed }

func TestTimesAreThoseOfTheClustersClock(t *testing.T) {
	const ahead = time.Hour
	for name, views := range map[string]bool{"while views come": true, "while none comes": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := &steady{Cluster: *example.New(time.Now(), 3, 3).View(), ahead: ahead, changed: make(chan struct{}, 1)}
				source.Waiting = []view.Waiting{{Namespace: "shop", Pods: []string{"web-1"}, Count: 1, Since: time.Now().Add(ahead)}}
				s := New(Options{Source: source})
				defer runs(t, s)()
				browser, hangUp := follow(s, http.Header{})
				defer hangUp()
				for range 20 {
					if after(time.Second); views {
						source.changed <- struct{}{}
					}
				}
				synctest.Wait() // the last view has come
				var last message
				list := browser.events()
				for _, e := range list {
					if _, data, has := strings.Cut(e, " change "); has {
						if err := json.Unmarshal([]byte(data), &last); err != nil {
							t.Fatal(err)
						}
					}
				}
				want := time.Now().Add(ahead - 5*time.Second) // the last point was five seconds ago
				if !last.At.Equal(want) || len(last.Points) != 1 || last.Points[0].At != want.Unix() || last.Points[0].Longest != 15 {
					t.Errorf("got at %v and points %+v, want %v and a wait of 15 s, from %d events", last.At, last.Points, want, len(list))
				}
				late, hangUpLate := follow(s, http.Header{})
				defer hangUpLate()
				synctest.Wait()
				if first := late.events()[0]; views && !strings.Contains(first, time.Now().Add(ahead).Format(time.RFC3339)) {
					t.Errorf("a browser that comes later gets the state as of %.60s", first)
				}
			})
		})
	}
}

// runs has a server follow its source until the function it returns is called.
func runs(t *testing.T, s *Server) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { s.Run(ctx) })
	synctest.Wait()
	return func() { cancel(); done.Wait() }
}

func TestTheWholeStateIsWrittenOnceForAllBrowsersThatComeMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed("x")
		f.publish(example.New(time.Now(), 50, 10).View())
		<-f.turn // one is being written
		events := make([][]byte, 20)
		var done sync.WaitGroup
		for i := range events {
			done.Go(func() {
				list, _, _ := f.since(0, false)
				events[i] = list[0]
			})
		}
		synctest.Wait()
		f.turn <- struct{}{}
		done.Wait()
		for i := range events {
			if &events[i][0] != &events[0][0] {
				t.Fatalf("browser %d got one of its own", i)
			}
		}
	})
}
