package container

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemok/daemok/lab/process"
)

// A container is probed while it runs, and each of its runs has the probe's initial delay.
func TestProbesFollowTheRunsOfAContainer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &corev1.Container{Name: "controller", Image: "daemok-controller"}
		spec := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{*c}}}
		r := &Runtime{options: Options{Programs: map[string]string{c.Image: "/not/started"}, Changed: func(_, _ string) {}}}
		p := newPod(r, spec, nil)
		defer p.cancel()
		fails := &corev1.Probe{InitialDelaySeconds: 5, PeriodSeconds: 2, SuccessThreshold: 1, FailureThreshold: 2, ProbeHandler: corev1.ProbeHandler{
			HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("not-declared")},
		}}
		created := time.Now()
		var failed []time.Duration
		go p.repeat(c, fails, func(ok bool) {
			if ok {
				t.Error("a probe of a port that does not exist succeeded")
			}
			failed = append(failed, time.Since(created))
		})
		time.Sleep(20 * time.Second)
		p.started(c, nil, nil) // probed after 25 s and 27 s
		time.Sleep(8 * time.Second)
		p.exited(c.Name, process.Exit{})
		time.Sleep(30 * time.Second)
		p.started(c, nil, nil) // at 58 s: probed after 63 s and 65 s
		time.Sleep(8 * time.Second)
		p.cancel()
		synctest.Wait()
		if want := []time.Duration{27 * time.Second, 65 * time.Second}; !slices.Equal(failed, want) {
			t.Errorf("the probe failed after %v, want %v", failed, want)
		}
	})
}
