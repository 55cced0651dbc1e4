package container

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/lab/process"
)

// pod is one pod whose containers run here.
type pod struct {
	runtime     *Runtime
	spec        *corev1.Pod // as it was first seen
	allocatable corev1.ResourceList
	folder      string
	life        context.Context // ends when the pod's containers are to end
	cancel      context.CancelFunc
	work        sync.WaitGroup // starting, probing, renewing tokens
	killed      atomic.Bool    // its containers are to end without a grace period
	ending      sync.Once
	ended       chan struct{} // closed when nothing of the pod runs any more

	mounting sync.Mutex      // guards tokens, and is held while volumes are written
	tokens   map[string]bool // files of tokens that are kept fresh

	mu         sync.Mutex // guards containers
	containers map[string]*container
}

// container is one that runs here. Its pod's lock guards it.
type container struct {
	status     corev1.ContainerStatus // state, last state, restarts, readiness
	supervisor *process.Supervisor    // nil until it has been started
	began      time.Time              // the latest run; its status has whole seconds
	ports      map[int32]int          // from the declared ones to those of this machine
}

func newPod(r *Runtime, spec *corev1.Pod, allocatable corev1.ResourceList) *pod {
	p := &pod{
		runtime: r, spec: spec, allocatable: allocatable, folder: filepath.Join(r.options.Folder, string(spec.UID)),
		ended: make(chan struct{}), containers: map[string]*container{}, tokens: map[string]bool{},
	}
	p.life, p.cancel = context.WithCancel(context.Background())
	for i := range spec.Spec.Containers {
		if c := &spec.Spec.Containers[i]; r.program(c) != "" {
			p.containers[c.Name] = &container{status: before(spec, c.Name)}
		}
	}
	return p
}

// before is the state of a container that has not been started here. One that ran in an earlier
// Runtime has ended with it, as with an instance that lost its power.
func before(spec *corev1.Pod, name string) corev1.ContainerStatus {
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}
	s := corev1.ContainerStatus{Name: name, State: waiting, Started: new(bool)}
	for _, was := range spec.Status.ContainerStatuses {
		if was.Name == name && was.State.Running != nil {
			s.RestartCount = was.RestartCount + 1
			s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{
				ExitCode: 255, Reason: "Unknown", StartedAt: was.State.Running.StartedAt, FinishedAt: now(),
			}
		}
	}
	return s
}

func now() metav1.Time { return metav1.Now().Rfc3339Copy() }

func (p *pod) file(name string) string { return filepath.Join(p.folder, name) }

// begin starts the containers, each as soon as all that it refers to is there.
func (p *pod) begin() {
	for i := range p.spec.Spec.Containers {
		c := &p.spec.Spec.Containers[i]
		if _, ours := p.containers[c.Name]; ours {
			p.work.Go(func() { p.keep(c) })
		}
	}
}

// keep starts one container and probes it until the pod ends.
func (p *pod) keep(c *corev1.Container) {
	ports := map[int32]int{}
	for {
		err := p.start(p.life, c, ports)
		if err == nil {
			p.probe(c, ports)
			return
		}
		if p.life.Err() != nil {
			return
		}
		p.runtime.options.Say("container %s of pod %s/%s cannot start: %v", c.Name, p.spec.Namespace, p.spec.Name, err)
		p.change(c.Name, func(s *corev1.ContainerStatus) {
			s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError", Message: err.Error()}}
		})
		if pause.For(p.life, retryAfter) != nil {
			return
		}
	}
}

// change alters the reported status of a container, and calls Changed where that makes a
// difference.
func (p *pod) change(name string, how func(*corev1.ContainerStatus)) {
	p.mu.Lock()
	status := &p.containers[name].status
	before := status.DeepCopy()
	how(status)
	same := equality.Semantic.DeepEqual(before, status)
	p.mu.Unlock()
	if !same {
		p.runtime.options.Changed(p.spec.Namespace, p.spec.Name)
	}
}

// started notes a start. A container without a readiness probe is ready from then on.
func (p *pod) started(c *corev1.Container, k *process.Supervisor, ports map[int32]int) {
	p.mu.Lock()
	this := p.containers[c.Name]
	this.supervisor, this.ports, this.began = k, ports, time.Now()
	p.mu.Unlock()
	p.change(c.Name, func(s *corev1.ContainerStatus) {
		s.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now()}}
		s.Started, s.Ready = new(true), c.ReadinessProbe == nil
	})
}

// run returns when a container was started last, and whether it runs.
func (p *pod) run(name string) (began time.Time, runs bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.containers[name]
	return c.began, c.status.State.Running != nil
}

// exited notes that a container ended by itself, or that it could not be started again. The latter is the end of no
// run: that of the run before has been noted.
func (p *pod) exited(name string, e process.Exit) {
	p.change(name, func(s *corev1.ContainerStatus) {
		if s.State.Running == nil {
			s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
				Reason: "RunContainerError", Message: fmt.Sprintf("%v, tried again in %v", e.Err, e.Retry),
			}}
			return
		}
		over(s, exitCode(e.Err), p.lastWords(name, e))
		s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
			Reason:  "CrashLoopBackOff",
			Message: fmt.Sprintf("back-off %v restarting failed container=%s pod=%s_%s(%s), its log is %s", e.Retry, name, p.spec.Name, p.spec.Namespace, p.spec.UID, e.LogFile),
		}}
	})
}

// stopped notes that a container ended because it is started again.
func (p *pod) stopped(name string, err error) {
	p.change(name, func(s *corev1.ContainerStatus) {
		over(s, exitCode(err), "")
		s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}
	})
}

// over notes that the run has ended, with what message, and another is to come.
func over(s *corev1.ContainerStatus, code int32, message string) {
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, Message: message, StartedAt: s.State.Running.StartedAt, FinishedAt: now(),
	}
	s.RestartCount++
	s.Ready, s.Started = false, new(bool)
}

// lastWords is the end of the log of a container that failed, where its spec asks the kubelet to keep it:
// whole lines, as many as kubelets keep.
func (p *pod) lastWords(name string, e process.Exit) string {
	asks := slices.ContainsFunc(p.spec.Spec.Containers, func(c corev1.Container) bool {
		return c.Name == name && c.TerminationMessagePolicy == corev1.TerminationMessageFallbackToLogsOnError
	})
	if !asks || exitCode(e.Err) == 0 {
		return ""
	}
	log, err := os.ReadFile(e.LogFile)
	if err != nil {
		return ""
	}
	const most = 2048 // bytes
	if from := len(log) - most; from > 0 {
		_, log, _ = bytes.Cut(log[from-1:], []byte("\n"))
	}
	return string(log)
}

// exitCode is that of a process as a container runtime reports it: 128 and the signal for one that was
// killed.
func exitCode(err error) int32 {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		if err != nil {
			return 128
		}
		return 0
	}
	if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int32(s.Signal())
	}
	return int32(exit.ExitCode())
}

func (p *pod) statuses() map[string]corev1.ContainerStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := map[string]corev1.ContainerStatus{}
	for name, c := range p.containers {
		all[name] = *c.status.DeepCopy()
	}
	return all
}

// stop asks all containers to end and reports whether they have.
func (p *pod) stop() bool {
	go p.end()
	return p.over()
}

// over reports whether nothing of the pod runs any more.
func (p *pod) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// end ends all containers and returns when they are gone.
func (p *pod) end() {
	p.ending.Do(func() {
		p.cancel()
		p.work.Wait()
		if p.killed.Load() {
			p.each((*process.Supervisor).Kill)
		} else {
			p.each((*process.Supervisor).Stop)
		}
		if err := os.RemoveAll(p.folder); err != nil {
			p.runtime.options.Say("remove folder of pod %s: %v", p.spec.Name, err)
		}
		close(p.ended)
		p.runtime.options.Changed(p.spec.Namespace, p.spec.Name)
	})
	<-p.ended
}

// kill ends all containers at once, those too that are asked to end, and returns when they are gone.
func (p *pod) kill() {
	p.killed.Store(true)
	p.cancel()
	p.each((*process.Supervisor).Kill)
	p.end()
}

// each does the same to all containers that were started, and returns when all is done.
func (p *pod) each(do func(*process.Supervisor)) {
	var wg sync.WaitGroup
	for _, k := range p.supervisors() {
		wg.Go(func() { do(k) })
	}
	wg.Wait()
}

func (p *pod) supervisors() map[string]*process.Supervisor {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := map[string]*process.Supervisor{}
	for name, c := range p.containers {
		if c.supervisor != nil {
			all[name] = c.supervisor
		}
	}
	return all
}

// restart ends all containers and starts them again.
func (p *pod) restart() error {
	var errs []error
	for _, k := range p.supervisors() {
		errs = append(errs, k.Restart())
	}
	return errors.Join(errs...)
}

func (p *pod) processes() []Process {
	var all []Process
	for name, k := range p.supervisors() {
		out := Process{Name: p.spec.Name, PID: k.PID(), Log: p.log(name, false), Ports: map[string]int{}}
		for _, port := range p.ports(name) {
			out.Ports[port.Name] = int(port.ContainerPort)
		}
		all = append(all, out)
	}
	return all
}

// ports are those of a container, with the numbers that they have here.
func (p *pod) ports(name string) []corev1.ContainerPort {
	p.mu.Lock()
	here := maps.Clone(p.containers[name].ports)
	p.mu.Unlock()
	var all []corev1.ContainerPort
	for _, c := range p.spec.Spec.Containers {
		if c.Name != name {
			continue
		}
		for _, port := range c.Ports {
			port.ContainerPort = int32(here[port.ContainerPort])
			all = append(all, port)
		}
	}
	return all
}

// wait pauses within the pod's life; false when that is over.
func (p *pod) wait(d time.Duration) bool { return pause.For(p.life, d) == nil }
