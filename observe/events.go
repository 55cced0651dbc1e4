package observe

import (
	"cmp"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/record"
)

// Event is one message to the users of an object. DedupeFor is how long an
// equal message about the same object is not repeated; 0 means two minutes.
// Messages are equal that have the same Topic or, where that is empty, the same
// text.
type Event struct {
	About     runtime.Object
	Key       string // identity of About: kind, namespace, name
	Warning   bool
	Reason    string
	Message   string
	Topic     string
	DedupeFor time.Duration
	Pace      interface{ TryAccept() bool } // drops the message where it says no: it may be sent again at once; nil: never
}

// Events publishes events without repeating itself. It is safe for
// concurrent use.
type Events struct {
	Recorder record.EventRecorder
	Now      func() time.Time

	mu   sync.Mutex
	sent map[string]time.Time // by key, reason and message: not again before
}

const (
	dedupeDefault = 2 * time.Minute
	messageMax    = 1024 // the API server's own limit
)

// Publish sends the event unless an equal one was sent lately.
func (e *Events) Publish(ev Event) {
	if len(ev.Message) > messageMax {
		ev.Message = strings.ToValidUTF8(ev.Message[:messageMax-len("…")], "") + "…"
	}
	if !e.fresh(ev) {
		return
	}
	kind := corev1.EventTypeNormal
	if ev.Warning {
		kind = corev1.EventTypeWarning
	}
	e.Recorder.Event(ev.About, kind, ev.Reason, ev.Message)
}

func (e *Events) fresh(ev Event) bool {
	now, key := e.Now(), ev.Key+"|"+ev.Reason+"|"+cmp.Or(ev.Topic, ev.Message)
	e.mu.Lock()
	defer e.mu.Unlock()
	if now.Before(e.sent[key]) || ev.Pace != nil && !ev.Pace.TryAccept() {
		return false
	}
	if e.sent == nil || len(e.sent) > 10_000 {
		e.sent = map[string]time.Time{} // forgetting costs a repeated event at worst
	}
	length := ev.DedupeFor
	if length == 0 {
		length = dedupeDefault
	}
	e.sent[key] = now.Add(length)
	return true
}
