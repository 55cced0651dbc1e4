package container

import (
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/probe"
	httpprobe "k8s.io/kubernetes/pkg/probe/http"

	"github.com/daemok/daemok/lab/process"
)

// probe asks a container how it is until the pod ends: one that has no probe for it is ready, and
// lives, for as long as it runs.
func (p *pod) probe(c *corev1.Container, ports map[int32]int) {
	here := c.DeepCopy()
	for i := range here.Ports {
		here.Ports[i].ContainerPort = int32(ports[here.Ports[i].ContainerPort])
	}
	for _, spec := range []*corev1.Probe{here.ReadinessProbe, here.LivenessProbe} {
		if spec != nil && spec.HTTPGet != nil && ports[spec.HTTPGet.Port.IntVal] != 0 {
			spec.HTTPGet.Port.IntVal = int32(ports[spec.HTTPGet.Port.IntVal])
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		p.repeat(here, here.ReadinessProbe, func(ok bool) {
			p.change(c.Name, func(s *corev1.ContainerStatus) { s.Ready = ok && s.State.Running != nil })
		})
	})
	wg.Go(func() {
		p.repeat(here, here.LivenessProbe, func(ok bool) {
			if ok {
				return
			}
			p.runtime.options.Say("container %s of pod %s/%s failed its liveness probe, it is restarted", c.Name, p.spec.Namespace, p.spec.Name)
			if err := p.supervisors()[c.Name].Restart(); err != nil && !errors.Is(err, process.ErrStopped) {
				p.runtime.options.Say("restart pod %s: %v", p.spec.Name, err)
			}
		})
	})
	wg.Wait()
}

// repeat probes the container while it runs, as often as the probe says and after its delay from each
// start, until the pod ends. It reports each outcome that a run has had as often in a row as the
// outcome's threshold. Failures are counted again from zero once they were reported.
func (p *pod) repeat(here *corev1.Container, spec *corev1.Probe, report func(ok bool)) {
	if spec == nil {
		return
	}
	prober := httpprobe.New(false)
	var probed time.Time // when the run began whose outcomes are counted
	var row int32        // how often its last outcome was seen in a row
	var last bool
	for pause := time.Duration(0); p.wait(pause); {
		pause = seconds(max(spec.PeriodSeconds, 1))
		began, runs := p.run(here.Name)
		if !runs {
			continue
		}
		if early := time.Until(began.Add(seconds(spec.InitialDelaySeconds))); early > 0 {
			pause = early
			continue
		}
		ok := p.ask(prober, here, spec)
		if now, runs := p.run(here.Name); !runs || now != began {
			continue // the answer is that of a run that is over
		}
		if began != probed || ok != last {
			probed, row, last = began, 0, ok
		}
		row++
		if ok && row >= spec.SuccessThreshold {
			report(true)
		}
		if !ok && row >= spec.FailureThreshold {
			report(false)
			row = 0
		}
	}
}

func seconds(n int32) time.Duration { return time.Duration(n) * time.Second }

// ask probes once. Probes by other means than HTTP always succeed.
func (p *pod) ask(prober httpprobe.Prober, here *corev1.Container, spec *corev1.Probe) bool {
	if spec.HTTPGet == nil {
		return true
	}
	request, err := httpprobe.NewRequestForHTTPGetAction(spec.HTTPGet, here, "127.0.0.1", "probe")
	if err != nil {
		return false
	}
	result, _, err := prober.Probe(request.WithContext(p.life), seconds(max(spec.TimeoutSeconds, 1)))
	return err == nil && (result == probe.Success || result == probe.Warning)
}
