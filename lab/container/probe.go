package container

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/probe"
	httpprobe "k8s.io/kubernetes/pkg/probe/http"
)

// probe asks a container how it is until the pod ends: one that has no probe for it is ready, and
// lives, for as long as it runs.
func (p *pod) probe(c *corev1.Container, ports map[int32]int) {
	if c.ReadinessProbe == nil {
		p.change(c.Name, func(s *corev1.ContainerStatus) { s.Ready = true })
	}
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
			if err := p.restartContainer(c.Name); err != nil {
				p.runtime.options.Say("restart pod %s: %v", p.spec.Name, err)
			}
			p.wait(time.Duration(c.LivenessProbe.InitialDelaySeconds) * time.Second)
		})
	})
	wg.Wait()
}

// repeat probes as often as the probe says until the pod ends, and tells each outcome that has been
// seen as often in a row as its threshold. Failures count from anew once they were told.
func (p *pod) repeat(here *corev1.Container, spec *corev1.Probe, tell func(ok bool)) {
	if spec == nil || !p.wait(time.Duration(spec.InitialDelaySeconds)*time.Second) {
		return
	}
	prober := httpprobe.New(false)
	var run int32 // how often the last outcome was seen in a row
	var last bool
	for {
		ok := p.ask(prober, here, spec)
		if ok != last {
			run = 0
		}
		run, last = run+1, ok
		if ok && run >= spec.SuccessThreshold {
			tell(true)
		}
		if !ok && run >= spec.FailureThreshold {
			tell(false)
			run = 0
		}
		if !p.wait(time.Duration(max(spec.PeriodSeconds, 1)) * time.Second) {
			return
		}
	}
}

// ask probes once. Probes by other means than HTTP always succeed.
func (p *pod) ask(prober httpprobe.Prober, here *corev1.Container, spec *corev1.Probe) bool {
	if spec.HTTPGet == nil {
		return true
	}
	request, err := httpprobe.NewRequestForHTTPGetAction(spec.HTTPGet, here, "127.0.0.1", "probe")
	if err != nil {
		return false
	}
	result, _, err := prober.Probe(request.WithContext(p.life), time.Duration(max(spec.TimeoutSeconds, 1))*time.Second)
	return err == nil && (result == probe.Success || result == probe.Warning)
}
