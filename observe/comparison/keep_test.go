package comparison

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
)

var began = time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)

// process is a process that keeps a history: its book, and what it has logged.
func process(in store, at time.Time) (*Saver, *Book, *bytes.Buffer) {
	book, log := &Book{}, &bytes.Buffer{}
	return &Saver{Book: book, Cluster: "prod", In: in, Log: slog.New(slog.NewTextHandler(log, nil)),
		Now: func() time.Time { return at }}, book, log
}

// watch has a process watch for an hour.
func watch(b *Book, from time.Time) {
	level := func(nodes int) Level { return Level{Cost: quantity.MicroUSDPerHour(nodes) * 100_000, Nodes: nodes} }
	for minute := 0; minute <= 60; minute += 5 {
		b.Observe(from.Add(time.Duration(minute)*time.Minute), level(10), level(6))
	}
	b.Happened(1, 2, 3)
	b.Decided(Decision{At: from, Kind: Terminate, What: "a", Terminated: 1, Evicted: 4, SavesPerHour: .1})
}

// A process goes on with the history of the one before it, from a file and from a ConfigMap: sums add up, the time
// between does not count, and each start is counted.
func TestAHistoryGoesOnAfterARestart(t *testing.T) {
	for name, in := range map[string]store{
		"a file":      File(filepath.Join(t.TempDir(), "history.json.gz")),
		"a ConfigMap": ConfigMap{Client: fake.NewClientBuilder().Build(), Namespace: "daemok"},
	} {
		t.Run(name, func(t *testing.T) {
			first, book, _ := process(in, began)
			if err := first.Begin(t.Context()); err != nil {
				t.Fatal(err)
			}
			watch(book, began)
			first.save(t.Context())
			left, _ := book.History()

			later := began.Add(24 * time.Hour)
			second, again, log := process(in, later)
			if err := second.Begin(t.Context()); err != nil {
				t.Fatal(err)
			}
			read, _ := again.History()
			left.Starts++
			if !reflect.DeepEqual(read, left) {
				t.Errorf("read is\n%+v\nwant what was left\n%+v", read, left)
			}
			watch(again, later)
			second.save(t.Context())
			h, _ := again.History()
			if h.Seconds != 7200 || h.Starts != 2 || !h.BeganAt.Equal(began) || len(h.Hours) != 2 ||
				h.Actual.Evicted != 6 || h.Shadow.Evicted != 8 || len(h.Latest) != 2 {
				t.Errorf("after two hours in two processes: %+v", h)
			}
			if saved := h.Actual.Dollars - h.Shadow.Dollars; saved < .79 || saved > .81 {
				t.Errorf("saved $%.2f, want 40 cents in each of two hours", saved)
			}
			if log.Len() > 0 {
				t.Errorf("logged is %s", log)
			}
		})
	}
}

// What is there and cannot be read is named with the way out, and left as it is.
func TestAHistoryThatCannotBeReadIsLeftAlone(t *testing.T) {
	whole, err := History{Version: version}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ data, want string }{
		"of a later release": {`{"version":9}`,
			"the history is of version 9, and this build reads version 1: use the release that wrote it, or move it away to begin again"},
		"cut off": {string(whole[:len(whole)-9]),
			"it is damaged (unexpected EOF): move it away to begin again"},
		"no history": {"hello", "it is damaged (invalid character"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "history.json.gz")
			if err := os.WriteFile(file, []byte(tt.data), 0o600); err != nil {
				t.Fatal(err)
			}
			o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "daemok", Name: api.ConfigMapShadow},
				BinaryData: map[string][]byte{DataKey: []byte(tt.data)}}
			in := fake.NewClientBuilder().WithObjects(o).Build()
			for _, place := range []store{File(file), ConfigMap{Client: in, Namespace: "daemok"}} {
				k, book, _ := process(place, began)
				if err := k.Begin(t.Context()); err == nil || !strings.Contains(err.Error(),
					tt.want) || !strings.HasPrefix(err.Error(), place.String()) {
					t.Errorf("%v; want one that begins with %q and says %q", err, place, tt.want)
				}
				if h, _ := book.History(); h.Starts != 0 {
					t.Errorf("the process began with %+v", h)
				}
				if data, err := place.read(t.Context()); err != nil || string(data) != tt.data {
					t.Errorf("%s holds %q, %v; want it as it was", place, data, err)
				}
			}
		})
	}
}

// optional is a ConfigMap that may be read and written once allowed says so.
func optional(allowed *bool) ConfigMap {
	refused := func() error {
		if *allowed {
			return nil
		}
		return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, api.ConfigMapShadow, nil)
	}
	return ConfigMap{Namespace: "daemok", Client: fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object,
			opts ...client.GetOption) error {
			if err := refused(); err != nil {
				return err
			}
			return c.Get(ctx, key, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch,
			opts ...client.PatchOption) error {
			if err := refused(); err != nil {
				return err
			}
			return c.Patch(ctx, o, p, opts...)
		},
	}).Build()}
}

// Without the optional right the process works, says once that the history is lost with it, and keeps it as soon as the
// right is there.
func TestWithoutTheRightAHistoryLastsAsLongAsTheProcess(t *testing.T) {
	allowed := false
	in := optional(&allowed)
	k, book, log := process(in, began)
	if err := k.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		watch(book, began)
		k.save(t.Context())
	}
	if n := strings.Count(log.String(), "kept in memory alone"); n != 1 || !strings.Contains(log.String(),
		"grant the rights of Role daemok-shadow, or set --shadow-file") {
		t.Errorf("it logs %d times\n%s", n, log)
	}
	allowed = true
	k.save(t.Context())
	if data, err := in.read(t.Context()); err != nil || len(data) == 0 {
		t.Errorf("with the right nothing is kept: %v", err)
	}
}

// Weeks that an earlier process kept are not lost where the next one may read them only later: both count.
func TestAHistoryThatMayBeReadLaterGoesOn(t *testing.T) {
	allowed := true
	in := optional(&allowed)
	first, book, _ := process(in, began)
	if err := first.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	watch(book, began)
	book.Leave(began, []Unplaced{{Example: "ml/a", Pods: 3, Why: "no GPU"}})
	first.save(t.Context())

	allowed = false
	later := began.Add(time.Hour) // the first hour of the second is the last of the first
	second, again, _ := process(in, later)
	if err := second.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	watch(again, later)
	again.Leave(later, []Unplaced{{Example: "ml/b", Pods: 2, Why: "no GPU"}})
	second.save(t.Context())
	allowed = true
	second.save(t.Context())

	h, _ := again.History()
	data, err := in.read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := Decode(data); err != nil || !reflect.DeepEqual(kept, h) {
		t.Errorf("kept is\n%+v, %v; want\n%+v", kept, err, h)
	}
	if h.Seconds != 7200 || h.Starts != 2 || !h.BeganAt.Equal(began) || !h.UntilAt.Equal(later.Add(time.Hour)) ||
		h.Actual.Evicted != 6 || h.Shadow.Evicted != 8 || len(h.Latest) != 2 || len(h.Largest) != 2 {
		t.Errorf("after two hours in two processes: %+v", h)
	}
	seconds := 0.0
	for i := range h.Hours {
		seconds += h.Hours[i].Seconds
	}
	if len(h.Hours) != 2 || seconds != 7200 {
		t.Errorf("%d hours with %.0f s, want 2 with 7200: %+v", len(h.Hours), seconds, h.Hours)
	}
	if u := h.Unplaced; len(u) != 1 || u[0].Pods != 3 || u[0].Example != "ml/b" || !u[0].FirstAt.Equal(began) ||
		!u[0].LastAt.Equal(later) {
		t.Errorf("without a place are %+v", u)
	}
}

// What may be read later and is damaged is left as it is, and the process says so.
func TestADamagedHistoryThatMayBeReadLaterIsLeftAlone(t *testing.T) {
	allowed := true
	in := optional(&allowed)
	if err := in.write(t.Context(), []byte("hello")); err != nil {
		t.Fatal(err)
	}
	allowed = false
	k, book, log := process(in, began)
	if err := k.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	watch(book, began)
	allowed = true
	k.save(t.Context())
	if data, err := in.read(t.Context()); err != nil || string(data) != "hello" {
		t.Errorf("it holds %q, %v; want it as it was", data, err)
	}
	if !strings.Contains(log.String(), "it is damaged") {
		t.Errorf("logged is %s", log)
	}
}

// Pods of several shapes without a place for the same reason count together, and the most at once are kept.
func TestPodsWithoutAPlaceAreSummedByTheReason(t *testing.T) {
	b := &Book{}
	three := []Unplaced{
		{Example: "ml/a", Pods: 4, Running: 1, Why: "no GPU"},
		{Example: "ml/b", Pods: 3, Running: 2, Why: "no GPU"},
		{Example: "db/a", Pods: 1, Why: "no volume"},
	}
	b.Leave(began, three)
	b.Leave(began.Add(time.Minute), three[1:2])
	h, _ := b.History()
	if u := h.Unplaced; len(u) != 2 || u[0].Pods != 7 || u[0].Running != 2 || u[0].Example != "ml/b" || u[1].Pods != 1 {
		t.Errorf("without a place are %+v; want 7 pods without a GPU, and 1", u)
	}
}

// What is new is written every minute, and once more at the end.
func TestAHistoryIsWrittenEveryMinuteAndAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := ConfigMap{Client: fake.NewClientBuilder().Build(), Namespace: "daemok"}
		k, book, _ := process(in, began)
		if err := k.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- k.Run(ctx) }()
		kept := func() (h History) {
			data, err := in.read(context.Background())
			if err == nil && len(data) > 0 {
				h, err = Decode(data)
			}
			if err != nil {
				t.Fatal(err)
			}
			return h
		}
		time.Sleep(keepEvery + time.Second)
		synctest.Wait()
		if h := kept(); h.Starts != 1 {
			t.Errorf("after a minute kept is %+v", h)
		}
		watch(book, began)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if h := kept(); h.Seconds != 3600 {
			t.Errorf("at the end kept is %+v", h)
		}
	})
}

// However long it is kept, a history has a bounded size.
func TestAHistoryIsBounded(t *testing.T) {
	b := &Book{}
	b.Begin("prod", began)
	for hour := range 60 * 24 {
		at := began.Add(time.Duration(hour) * time.Hour)
		b.Observe(at, Level{Cost: 1000}, Level{Cost: 500})
		b.Observe(at.Add(time.Minute), Level{Cost: 1000}, Level{Cost: 500})
		b.Decided(Decision{At: at, What: strings.Repeat("n", 100), SavesPerHour: float64(hour)})
		b.Leave(at, []Unplaced{{Why: strings.Repeat("w", hour%50)}})
	}
	h, _ := b.History()
	if len(h.Hours) != hoursMax || len(h.Largest) != largestMax || len(h.Latest) != latestMax ||
		len(h.Unplaced) != unplacedMax {
		t.Errorf("%d hours, %d and %d decisions, %d reasons", len(h.Hours), len(h.Largest), len(h.Latest),
			len(h.Unplaced))
	}
	if h.Seconds != 60*24*60 {
		t.Errorf("%.0f s were watched, want a minute of each hour", h.Seconds)
	}
	if data, err := h.Encode(); err != nil || len(data) > 1<<19 {
		t.Errorf("it has %d bytes, %v; a ConfigMap holds 1 MiB", len(data), err)
	}
}
