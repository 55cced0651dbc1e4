// Package event writes the events that kubelets report about nodes and pods, as `kubectl describe`
// shows them.
//
// It promises never to delay the caller: it writes events in the background, and drops those beyond a
// rate, so that ten thousand pods that start at once do not overload the API server. Nothing may
// depend on an event.
package event

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/util/flowcontrol"
)

// source is the reporting component, in every event.
const source = "kubelet"

// writeWithin bounds one write.
const writeWithin = 10 * time.Second

// Reported is one thing that a kubelet reports.
type Reported struct {
	About   corev1.ObjectReference
	Node    string // that the kubelet runs on
	Warning bool
	Reason  string
	Message string
}

// Rate is how many events are written at most: so many a second, and so many at once after
// a silence. One start of a pod writes three.
type Rate struct {
	PerSecond float32
	Burst     int
}

// Recorder takes events and writes those that its rate allows. It may be used
// from several goroutines; a nil one drops all.
type Recorder struct {
	limiter  flowcontrol.RateLimiter
	waiting  chan order
	reported atomic.Int64 // keeps names apart where the clock does not
	log      *slog.Logger
}

// order is an event and the user that it is written as.
type order struct {
	as    typedcorev1.EventsGetter
	event *corev1.Event
}

// NewRecorder returns a recorder that writes nothing before Run.
func NewRecorder(r Rate, log *slog.Logger) *Recorder {
	return &Recorder{
		limiter: flowcontrol.NewTokenBucketRateLimiter(r.PerSecond, r.Burst),
		waiting: make(chan order, r.Burst),
		log:     log,
	}
}

// Report has an event written under these credentials, if the rate allows. It
// returns at once.
func (r *Recorder) Report(as typedcorev1.EventsGetter, reported Reported) {
	if r == nil || !r.limiter.TryAccept() {
		return
	}
	select {
	case r.waiting <- order{as, reported.event(time.Now(), r.reported.Add(1))}:
	default: // the API server is slower than the rate
	}
}

// Run writes events until ctx ends.
func (r *Recorder) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case o := <-r.waiting:
			if err := write(ctx, o); err != nil && ctx.Err() == nil {
				r.log.Debug("event not written", "reason", o.event.Reason, "about", o.event.InvolvedObject.Name, "error", err)
			}
		}
	}
}

func write(ctx context.Context, o order) error {
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	_, err := o.as.Events(o.event.Namespace).Create(ctx, o.event, metav1.CreateOptions{})
	return err
}

// event is the object that kubectl reads; one about an object without a
// namespace is kept in "default".
func (t Reported) event(now time.Time, serial int64) *corev1.Event {
	namespace, kind, at := t.About.Namespace, corev1.EventTypeNormal, metav1.NewTime(now)
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	if t.Warning {
		kind = corev1.EventTypeWarning
	}
	return &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: fmt.Sprintf("%s.%x", t.About.Name, now.UnixNano()+serial), Namespace: namespace},
		InvolvedObject: t.About,
		Reason:         t.Reason, Message: t.Message, Type: kind, Count: 1,
		FirstTimestamp: at, LastTimestamp: at,
		Source:              corev1.EventSource{Component: source, Host: t.Node},
		ReportingController: source, ReportingInstance: t.Node,
	}
}
