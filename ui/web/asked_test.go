package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/daemok/daemok/core/cost"
	"github.com/daemok/daemok/ui/page"
	"github.com/daemok/daemok/ui/text"
	"github.com/daemok/daemok/ui/view"
	"github.com/daemok/daemok/ui/web/browser/example"
)

// slow makes plans that take as long as it says.
type slow struct {
	takes time.Duration
	fails error
	mu    sync.Mutex
	made  int
}

func (p *slow) Plan(context.Context) (page.Page, error) {
	p.mu.Lock()
	p.made++
	p.mu.Unlock()
	time.Sleep(p.takes)
	b := page.Block{Heading: "- Terminated", Tone: text.Bad}
	b.Table = text.Table{Columns: []text.Column{{Title: "COUNT", Right: true}, {Title: "EMPTY"}, {Title: "NODES"}}}
	b.Table.Add(text.Say(text.Bad, "-1"), text.Of(""), text.Of("<img src=x>"))
	return page.Page{Title: "Plan: -1 terminated", Blocks: []page.Block{b}}, p.fails
}

// get asks a server that runs.
func get(s *Server, path string) (int, string) {
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "http://localhost"+path, nil)
	s.Handler().ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func TestOnePlanIsMadeForAllWhoAskMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &slow{takes: 3 * time.Second}
		s := New(Options{Source: example.New(time.Now(), 3, 3), Planner: p})
		for want := 1; want <= 2; want++ {
			var browsers sync.WaitGroup
			for range 4 {
				browsers.Go(func() {
					if code, body := get(s, "/plan"); code != http.StatusOK || !strings.Contains(body, `"seconds":3`) {
						t.Errorf("got %d %s", code, body)
					}
				})
			}
			browsers.Wait()
			if p.made != want {
				t.Errorf("%d plans were made, want %d", p.made, want)
			}
			time.Sleep(freshFor) // later another one is made
		}
	})
}

func TestAPlanIsMadeWhileTheStreamGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := running(t, 3, 4)
		s.replies.Planner = &slow{takes: time.Minute}
		browser, hangUp := follow(s, http.Header{})
		defer hangUp()
		var asks sync.WaitGroup
		asks.Go(func() { get(s, "/plan") })
		after(time.Second)
		c.Become(time.Now(), 1, view.Draining, "drift")
		after(time.Second)
		if list := browser.events(); len(list) != 2 || nameOf(list[1]) != "change" {
			t.Errorf("want the change while the plan is made, got %d events", len(list))
		}
		asks.Wait()
	})
}

func TestAPlanIsBlocksOfText(t *testing.T) {
	s := New(Options{Source: example.New(time.Now(), 1, 1), Planner: &slow{}})
	code, body := get(s, "/plan")
	want := `"blocks":[{"heading":"- Terminated","tone":"bad",` +
		`"columns":[{"title":"COUNT","right":true},{"title":"NODES"}],` +
		`"rows":[[{"text":"-1","tone":"bad"},{"text":"\u003cimg src=x\u003e"}]]}]`
	if code != http.StatusOK || !strings.Contains(body, want) {
		t.Errorf("got %d %s, want %s", code, body, want)
	}
}

func TestWhyThereIsNoPlan(t *testing.T) {
	unnamed := &slow{fails: errors.New("give --cluster-name")}
	for name, c := range map[string]struct {
		by   planner
		want int
		says string
	}{
		"none is made here": {nil, 404, "`daemok plan` prints"},
		"it cannot be made": {unnamed, 502, "No plan can be made: give --cluster-name"},
	} {
		code, body := get(New(Options{Source: example.New(time.Now(), 1, 1), Planner: c.by}), "/plan")
		if code != c.want || !strings.Contains(body, c.says) {
			t.Errorf("%s: got %d %s, want %d and %s", name, code, body, c.want, c.says)
		}
	}
}

// half is a meter: every pod of the example uses half of a core.
type half struct{ *example.Cluster }

func (h half) Pods(context.Context, string) (map[cost.PodID]cost.Used, string, error) {
	out := map[cost.PodID]cost.Used{}
	for _, n := range h.View().Nodes {
		for _, p := range n.Pods {
			out[cost.PodID{Namespace: p.Namespace, Name: p.Name}] = cost.Used{Samples: 1, CPU: 1}
		}
	}
	return out, "", nil
}

func TestTheCostIsOfTheNodesThatAreShown(t *testing.T) {
	c := example.New(time.Now(), 20, 6)
	s := New(Options{Source: c, Meter: half{c}})
	code, body := get(s, "/costs")
	var got struct{ Report bill }
	if err := json.Unmarshal([]byte(body), &got); code != http.StatusOK || err != nil {
		t.Fatalf("got %d %v: %s", code, err, body)
	}
	r := got.Report
	if want := c.View().Totals.Cost.PerHour; float64(r.Cost)-want > 1e-5 || want-float64(r.Cost) > 1e-5 {
		t.Errorf("the cost is %v, want %v as the map says", r.Cost, want)
	}
	for i, g := range r.Groups {
		var sum float64
		for _, row := range g.Rows {
			sum += float64(row.Cost)
		}
		if g.By[0] != pageGroups[i] || sum-float64(r.Cost) > 1e-4 || float64(r.Cost)-sum > 1e-4 {
			t.Errorf("the rows by %v come to %v, want %v", g.By, sum, r.Cost)
		}
	}
	if len(r.Idle) == 0 || r.Idle[0].Meaning == "" || len(r.Over) == 0 || r.NoUsage != "" {
		t.Errorf("want what is idle and what is requested too much, got %+v %+v %q", r.Idle, r.Over, r.NoUsage)
	}
}

func TestTheCostIsARowForEachWorkloadAsCSV(t *testing.T) {
	r := ask(t, Options{}, http.MethodGet, "http://localhost/costs.csv", nil)
	body := bodyOf(t, r)
	h := r.Header
	if h.Get("Content-Type") != "text/csv; charset=utf-8" ||
		!strings.Contains(h.Get("Content-Disposition"), "attachment") ||
		!strings.HasPrefix(body, "pool,namespace,owner,idle_only,cost_per_hour") {
		t.Errorf("got %v\n%s", r.Header, body)
	}
}

// bare is a source that does not say what its views are made from.
type bare struct{ view.Source }

func TestASourceWithoutASnapshotHasNoCost(t *testing.T) {
	code, body := get(New(Options{Source: bare{example.New(time.Now(), 1, 1)}}), "/costs")
	if code != http.StatusServiceUnavailable || !strings.Contains(body, "try again in a moment") {
		t.Errorf("got %d %s", code, body)
	}
}

func TestACardExplains(t *testing.T) {
	c := example.New(time.Now(), 12, 6)
	c.Wait(time.Now(), view.Waiting{
		Namespace: "shop", Owner: "Deployment/web", Pods: []string{"web-1"}, Count: 1, Looked: true,
		Reason: "NodePool/batch: cpu limit reached",
	})
	for path, says := range map[string]string{
		"/about/node/ip-10-0-0-4.eu-west-1.compute.internal": "is ready",
		"/about/pod/shop/web-1":                              "waits for a node",
		"/about/nodepool/default":                            "may launch instances",
		"/owner/shop/Deployment/web":                         "pod waits for a node",
	} {
		code, body := get(New(Options{Source: c, Record: lines{}}), path)
		var got said
		err := json.Unmarshal([]byte(body), &got)
		if code != http.StatusOK || err != nil || got.Card == nil || !strings.Contains(got.Card.State, says) {
			t.Errorf("%s: got %d %v %s, want a card that says %q", path, code, err, body, says)
		}
	}
	if _, body := get(New(Options{Source: c}), "/about/node/gone"); !strings.Contains(body, `"card":null`) {
		t.Errorf("a node that is not there: got %s", body)
	}
}
