package record_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/test/store"
)

// archive is an API server with what was written to it.
type archive struct {
	t      *testing.T
	server *store.Server
	fault  store.Fault // nil: none

	mu     sync.Mutex
	writes []string
	log    strings.Builder
	counts map[string]int
}

func newArchive(t *testing.T) *archive {
	t.Helper()
	s := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return &archive{t: t, server: store.New(s, time.Now), counts: map[string]int{}}
}

func (a *archive) called(c store.Call) (before, after error) {
	if a.fault != nil {
		if before, after = a.fault(c); before != nil {
			return before, after
		}
	}
	if c.Writes() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.writes = append(a.writes, c.String())
	}
	return nil, after
}

// lead keeps a record as a leader does, and returns how to end that.
func (a *archive) lead(r *record.Record) (stop func()) {
	store := a.server.Connect(a.called)
	ring := &record.Ring{Record: r, Store: store, Live: store, Namespace: "kube-system", Now: time.Now,
		Log: slog.New(slog.NewTextHandler(&a.log, nil)), Count: func(result string) { a.mu.Lock(); a.counts[result]++; a.mu.Unlock() }}
	ctx, cancel := context.WithCancel(a.t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := ring.Run(ctx); err != nil {
			a.t.Error(err)
		}
	})
	return func() { cancel(); running.Wait() }
}

// read is what `daemok explain` finds.
func (a *archive) read() (*record.Record, time.Time) {
	a.t.Helper()
	r, written, err := record.Read(a.t.Context(), a.server.Connect(nil), "kube-system")
	if err != nil {
		a.t.Fatal(err)
	}
	return r, written
}

func node(name string) record.Object { return record.Object{Kind: record.Node, Name: name} }

// said holds a statement about a node in a round of its own.
func said(r *record.Record, name, text string) {
	r.Begin()
	r.Hold(record.Statement{About: node(name), Topic: record.TopicStay, Said: text, From: time.Now().UTC()}, nil)
	r.Finish(time.Now().UTC())
}

func texts(r *record.Record, name string) string {
	var out []string
	for _, s := range r.About(node(name)) {
		text := s.From.Format("15:04:05 ") + s.Said
		if !s.Until.IsZero() {
			text += " until " + s.Until.Format("15:04:05")
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

func (a *archive) wrote() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := strings.Join(a.writes, ", ")
	a.writes = nil
	return out
}

// What is decided is on record within a minute, is written once however often
// it is decided again, and goes on after a restart.
func TestTheRecordOutlivesItsController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, first := newArchive(t), &record.Record{}
		stop := a.lead(first)
		for range 10 * 60 { // ten minutes of plans
			said(first, "n1", "stays")
			time.Sleep(time.Second)
		}
		if got, want := a.wrote(), "create ConfigMap/daemok-record-newest, create ConfigMap/daemok-record-0"; got != want {
			t.Errorf("wrote %q, want %q", got, want)
		}
		said(first, "n1", "goes") // at 00:10:00
		stop()
		if got, want := a.wrote(), "patch ConfigMap/daemok-record-0"; got != want {
			t.Errorf("wrote %q at its end, want %q", got, want)
		}
		kept, _ := a.read()
		if got, want := texts(kept, "n1"), "00:10:00 goes; 00:00:00 stays until 00:10:00"; got != want {
			t.Errorf("with no controller there is %q, want %q", got, want)
		}
		time.Sleep(time.Hour)
		second := &record.Record{}
		stop = a.lead(second)
		time.Sleep(time.Second)
		said(second, "n1", "goes")
		time.Sleep(2 * time.Minute)
		stop()
		if got, want := texts(second, "n1"), "00:10:00 goes; 00:00:00 stays until 00:10:00"; got != want {
			t.Errorf("the next controller has %q, want %q", got, want)
		}
		if got := a.wrote(); got != "" {
			t.Errorf("the next controller, which decided the same, wrote %q", got)
		}
	})
}

// What is decided can be read within seconds, and what ended has ended then, though the
// ring itself is written every minute at most.
func TestWhatIsNewIsReadWithinSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, r := newArchive(t), &record.Record{}
		stop := a.lead(r)
		said(r, "n1", "stays")
		time.Sleep(70 * time.Second) // the ring has it
		said(r, "n1", "goes: Interrupted")
		for range 5 {
			time.Sleep(4 * time.Second)
			said(r, "n2", fmt.Sprint("stays for reason ", time.Now().Format("05")))
		}
		time.Sleep(4 * time.Second)
		kept, written := a.read()
		if got, want := texts(kept, "n1"), "00:01:10 goes: Interrupted until 00:01:14; 00:00:00 stays until 00:01:10"; got != want {
			t.Errorf("n1: %q, want %q", got, want)
		}
		if got, want := texts(kept, "n2"), "00:01:30 stays for reason 30; "; !strings.HasPrefix(got, want) {
			t.Errorf("n2: %q, want %q first", got, want)
		}
		if age := time.Since(written); age > 4*time.Second {
			t.Errorf("what is read is %v old", age)
		}
		time.Sleep(time.Minute)
		stop()
		next := &record.Record{}
		stop = a.lead(next)
		time.Sleep(time.Second)
		synctest.Wait()
		if got, want := texts(next, "n1"), texts(kept, "n1"); got != want {
			t.Errorf("the next controller has %q, want %q", got, want)
		}
		stop()
	})
}

// Where the rights are those of an earlier version, which lack what is newest, the ring
// is kept as it was.
func TestTheRingNeedsNoRightsOnWhatIsNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, r := newArchive(t), &record.Record{}
		a.fault = func(c store.Call) (before, after error) {
			if strings.Contains(c.String(), "daemok-record-newest") {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "daemok-record-newest", errors.New("no rule")), nil
			}
			return nil, nil
		}
		stop := a.lead(r)
		for range 10 {
			said(r, "n1", "stays "+time.Now().Format("04"))
			time.Sleep(time.Minute)
		}
		time.Sleep(5 * time.Second)
		if kept, _ := a.read(); !strings.HasPrefix(texts(kept, "n1"), "00:09:00 stays") {
			t.Errorf("there is %q", texts(kept, "n1"))
		}
		stop()
		if lines := strings.Count(a.log.String(), "\n"); lines != 1 {
			t.Errorf("told %d lines, want one:\n%s", lines, a.log.String())
		}
	})
}

// A leader that lost its lease may write once more, behind its successor. Both report all that
// either has decided, and no plan waits for that.
func TestTwoWritersLoseNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, old, next := newArchive(t), &record.Record{}, &record.Record{}
		stopOld := a.lead(old)
		said(old, "n1", "stays")
		time.Sleep(90 * time.Second)
		stopNext := a.lead(next)
		time.Sleep(time.Second)
		said(old, "n1", "goes")
		time.Sleep(time.Minute) // the old one writes
		next.Note(record.Statement{About: node("n2"), Said: "was let go", From: time.Now().UTC()})
		time.Sleep(3 * time.Minute)
		stopOld()
		stopNext()
		kept, _ := a.read()
		if got, want := texts(kept, "n1"), "00:01:31 goes; 00:00:00 stays until 00:01:31"; got != want {
			t.Errorf("n1: %q, want %q", got, want)
		}
		if got, want := texts(kept, "n2"), "00:02:31 was let go until 00:02:31"; got != want {
			t.Errorf("n2: %q, want %q", got, want)
		}
		if a.counts["conflict"] != 1 || a.counts["written"] < 3 {
			t.Errorf("counted %v, want one conflict and three writes at least", a.counts)
		}
	})
}

// Without rights, or while the API server fails, the record is in memory alone;
// one line says so, and all is written once that is over.
func TestWhatCannotBeWrittenIsReportedOnce(t *testing.T) {
	resource := schema.GroupResource{Resource: "configmaps"}
	tests := map[string]struct {
		err   error
		count string
	}{
		"missing rights":         {apierrors.NewForbidden(resource, "daemok-record-0", errors.New("no rule")), "forbidden"},
		"a server that does not": {apierrors.NewServiceUnavailable("starting"), "failed"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, r := newArchive(t), &record.Record{}
				var broken atomic.Bool
				broken.Store(true)
				a.fault = func(c store.Call) (before, after error) {
					if broken.Load() && c.Writes() {
						return tt.err, nil
					}
					return nil, nil
				}
				stop := a.lead(r)
				for range 5 {
					said(r, "n1", "stays")
					time.Sleep(time.Minute)
				}
				time.Sleep(time.Second)
				synctest.Wait()
				if lines := strings.Count(a.log.String(), "\n"); lines != 1 || a.counts[tt.count] != 6 {
					t.Errorf("told %d lines and counted %v, want one line and six times %s:\n%s", lines, a.counts, tt.count, a.log.String())
				}
				broken.Store(false)
				time.Sleep(time.Minute)
				stop()
				if kept, _ := a.read(); texts(kept, "n1") != "00:00:00 stays" {
					t.Errorf("afterwards there is %q", texts(kept, "n1"))
				}
			})
		})
	}
}

// What cannot be read is not written over.
func TestWhatCannotBeReadIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, r := newArchive(t), &record.Record{}
		a.fault = func(c store.Call) (before, after error) {
			if c.Verb == store.Get {
				return apierrors.NewServiceUnavailable("starting"), nil
			}
			return nil, nil
		}
		stop := a.lead(r)
		said(r, "n1", "stays")
		time.Sleep(10 * time.Minute)
		stop()
		if got := a.wrote(); got != "" {
			t.Errorf("wrote %q", got)
		}
	})
}

// A day is kept, in ConfigMaps that stay below what the API server takes; what
// is older goes, and what still holds stays.
func TestTheRingKeepsADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, r := newArchive(t), &record.Record{}
		stop := a.lead(r)
		began := time.Now()
		for hour := range 48 {
			r.Begin()
			r.Hold(record.Statement{About: node("old"), Topic: record.TopicStay, Said: "stays", From: time.Now().UTC()}, nil)
			for i := range 3 {
				text := noise(uint64(hour*3 + i))
				r.Hold(record.Statement{About: node(fmt.Sprintf("n%d-%d", hour, i)), Topic: record.TopicStay, Said: text, From: time.Now().UTC()}, nil)
			}
			r.Finish(time.Now().UTC())
			time.Sleep(time.Hour)
		}
		stop()
		kept, _ := a.read()
		list, _ := kept.Statements(time.Time{})
		oldest := time.Now()
		for _, s := range list {
			if s.About != node("old") && s.From.Before(oldest) {
				oldest = s.From
			}
		}
		if back := time.Since(oldest); back < 24*time.Hour || back > 30*time.Hour {
			t.Errorf("the record goes back %s, want a day and a part of the ring more at most", back)
		}
		if got, want := texts(kept, "old"), began.UTC().Format("15:04:05")+" stays"; got != want {
			t.Errorf("what still holds: %q, want %q", got, want)
		}
		a.below(1 << 20)
	})
}

// More than fits loses what is oldest, not what is new.
func TestMoreThanFitsLosesTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, r := newArchive(t), &record.Record{}
		stop := a.lead(r)
		for i := range 400 {
			r.Note(record.Statement{About: node(fmt.Sprintf("n%d", i)), Said: noise(uint64(i)), From: time.Now().UTC()})
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Minute)
		stop()
		kept, _ := a.read()
		if texts(kept, "n399") == "" || texts(kept, "n0") != "" {
			t.Errorf("n399 is %d bytes, want some; n0 is %d bytes, want none", len(texts(kept, "n399")), len(texts(kept, "n0")))
		}
		a.below(1 << 20)
	})
}

// below checks that no ConfigMap holds so many bytes.
func (a *archive) below(most int) {
	a.t.Helper()
	var list corev1.ConfigMapList
	if err := a.server.Connect(nil).List(a.t.Context(), &list); err != nil {
		a.t.Fatal(err)
	}
	if len(list.Items) == 0 || len(list.Items) > 9 {
		a.t.Errorf("%d ConfigMaps, want 1 to 9", len(list.Items))
	}
	for _, c := range list.Items {
		for key, data := range c.BinaryData {
			if len(data) >= most {
				a.t.Errorf("%s has %d bytes under %s", c.Name, len(data), key)
			}
		}
	}
}

// noise is a text of four thousand bytes that hardly compresses.
func noise(seed uint64) string {
	out := make([]byte, 4000)
	for i := range out {
		seed = seed*6364136223846793005 + 1442695040888963407
		out[i] = byte('!' + seed>>33%90)
	}
	return string(out)
}

// Records of later versions, and what people write into the ConfigMaps, are read
// as far as they are understood.
func TestReadingToleratesVersions(t *testing.T) {
	line := `{"about":{"kind":"node","name":"n1"},"topic":"stay","said":"stays","from":"2026-11-21T04:00:00Z","basis":7,"mood":"calm"}`
	tests := map[string]struct{ text, want string }{
		"fields and lines of a later version": {`{"version":2,"written":"2026-11-21T04:01:00Z","colour":"red"}` + "\n" + line + "\n" + `{"weather":"fine"}` + "\nnonsense\n", "04:00:00 stays"},
		"no version":                          {`{"written":"2026-11-21T04:01:00Z"}` + "\n" + line + "\n", ""},
		"nothing at all":                      {"", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := newArchive(t)
			c := &corev1.ConfigMap{BinaryData: map[string][]byte{"decisions.json.gz": packed(t, tt.text)}}
			c.Namespace, c.Name = "kube-system", "daemok-record-3"
			a.create(c)
			broken := &corev1.ConfigMap{Data: map[string]string{"decisions": "none"}}
			broken.Namespace, broken.Name = "kube-system", "daemok-record-4"
			a.create(broken)
			if kept, _ := a.read(); texts(kept, "n1") != tt.want {
				t.Errorf("read %q, want %q", texts(kept, "n1"), tt.want)
			}
		})
	}
}

func (a *archive) create(o client.Object) {
	a.t.Helper()
	if err := a.server.Connect(nil).Create(a.t.Context(), o); err != nil {
		a.t.Fatal(err)
	}
}

func packed(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
