package main

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/daemok/daemok/observe"
)

func newEvents(m ctrl.Manager, config *rest.Config) (*observe.Events, error) {
	sink, err := eventSink(config)
	if err != nil {
		return nil, err
	}
	broadcaster := record.NewBroadcaster()
	broadcaster.StartRecordingToSink(sink)
	recorder := broadcaster.NewRecorder(m.GetScheme(), corev1.EventSource{Component: "karpenter"})
	return &observe.Events{Recorder: recorder, Now: time.Now}, nil
}

// eventSink writes events by a client of its own.
func eventSink(config *rest.Config) (record.EventSink, error) {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("build client for events: %w", err)
	}
	return &typedcorev1.EventSinkImpl{Interface: clients.CoreV1().Events("")}, nil
}

// How many pods get an event that says where they should go, as Karpenter does.
const (
	nominationsPerSecond = 5
	nominationsAtOnce    = 10
)

// How many pods get an event that says why they have no place: about as many as users read.
const (
	failuresPerSecond = 10
	failuresAtOnce    = 100
)
