package event_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/daemok/daemok/lab/event"
)

var (
	pod  = corev1.ObjectReference{Kind: "Pod", Namespace: "shop", Name: "web", UID: "1"}
	node = corev1.ObjectReference{Kind: "Node", Name: "n1", UID: "n1"}
)

// inBubble runs a recorder in virtual time and ends it with the test.
func inBubble(t *testing.T, rate event.Rate, story func(r *event.Recorder, c *fake.Clientset)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r, client := event.NewRecorder(rate, slog.New(slog.DiscardHandler)), fake.NewClientset()
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		story(r, client)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func written(t *testing.T, c *fake.Clientset, namespace string) []corev1.Event {
	t.Helper()
	synctest.Wait()
	list, err := c.CoreV1().Events(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// Events of a pod are kept beside it, those of a node in default, each as from the kubelet
// of its node.
func TestEventsAreKeptWhereKubectlLooks(t *testing.T) {
	inBubble(t, event.Rate{PerSecond: 10, Burst: 10}, func(r *event.Recorder, c *fake.Clientset) {
		r.Report(c.CoreV1(), event.Reported{About: pod, Node: "n1", Warning: true, Reason: "OutOfcpu", Message: "none left"})
		r.Report(c.CoreV1(), event.Reported{About: node, Node: "n1", Reason: "Starting", Message: "Starting kubelet."})
		got := written(t, c, "shop")
		if len(got) != 1 || got[0].Type != "Warning" || got[0].Reason != "OutOfcpu" || got[0].InvolvedObject != pod || got[0].Source.Host != "n1" {
			t.Errorf("events of the pod = %+v, want one warning from n1", got)
		}
		if got := written(t, c, "default"); len(got) != 1 || got[0].Type != "Normal" || got[0].InvolvedObject != node {
			t.Errorf("events of the node = %+v, want one in default", got)
		}
	})
}

// Of many events at once no more are written than the burst, and later ones
// only as fast as the rate.
func TestEventsBeyondTheRateAreDropped(t *testing.T) {
	inBubble(t, event.Rate{PerSecond: 2, Burst: 5}, func(r *event.Recorder, c *fake.Clientset) {
		reportMany := func() {
			for range 1000 {
				r.Report(c.CoreV1(), event.Reported{About: pod, Reason: "Started"})
			}
		}
		reportMany()
		if got := len(written(t, c, "shop")); got != 5 {
			t.Errorf("%d events were written of a thousand at once, want the burst of 5", got)
		}
		time.Sleep(time.Second)
		reportMany()
		if got := len(written(t, c, "shop")); got != 7 {
			t.Errorf("%d events were written a second later, want 2 more than 5", got)
		}
	})
}

func TestNoRecorderDropsAll(_ *testing.T) {
	var none *event.Recorder
	none.Report(fake.NewClientset().CoreV1(), event.Reported{About: pod})
}
