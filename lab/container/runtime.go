// Package container runs the containers of pods as processes of this host, if it has a program for
// their image.
//
// It promises what a kubelet promises to those programs: their environment, arguments, files and
// tokens as the pod's spec names them, probes, restarts with a growing pause, and SIGTERM before
// SIGKILL; and that no process outlives the Runtime. It checks only the names of images, enforces no
// resource limits, and lets the programs share this host's network: each port that a container
// declares is mapped to another one here (see Process.Ports).
package container

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/daemok/daemok/lab/process"
)

// Options are what a Runtime is made of.
type Options struct {
	Folder string // of this Runtime alone; a folder for each pod is made in it

	// Programs are the executables that stand for images, by the last element of the image's
	// repository, such as daemok-controller.
	Programs map[string]string

	Client      kubernetes.Interface // reads ConfigMaps and Secrets, asks for tokens
	Kubeconfig  func(file, tokenFile string) error
	Environment []string            // NAME=value, for every process; what a container sets goes first
	Addresses   map[string]string   // beginnings of values that lead elsewhere on this machine, such as of link-local services
	Port        func() (int, error) // a port that nothing else uses
	// Log names the file that takes what a container prints, or that of its run before.
	Log func(namespace, pod, container string, previous bool) string

	// Changed receives a pod whose containers are not as they were. It must not block.
	Changed func(namespace, name string)
	Say     func(format string, args ...any) // trouble, for people
}

// Runtime runs containers. Its methods may be called from any goroutine.
type Runtime struct {
	options Options

	mu      sync.Mutex // guards all below
	pods    map[types.UID]*pod
	leaving sync.WaitGroup // killed and forgotten pods that have not ended; nothing is added once it is closed
	closed  bool
}

// Process is a running container, for people.
type Process struct {
	Name  string // of its pod
	PID   int    // 0 between two runs
	Log   string
	Ports map[string]int // by the name of the container's port: where it is on 127.0.0.1
}

// New returns a Runtime that runs nothing yet. What an earlier one left in the folder is removed.
func New(o Options) (*Runtime, error) {
	if err := os.RemoveAll(o.Folder); err != nil {
		return nil, fmt.Errorf("clear folders of pods: %w", err)
	}
	if err := os.MkdirAll(o.Folder, 0o700); err != nil {
		return nil, fmt.Errorf("make folder for pods: %w", err)
	}
	return &Runtime{options: o, pods: map[types.UID]*pod{}}, nil
}

// Runs reports whether a container of the pod is run here.
func (r *Runtime) Runs(p *corev1.Pod) bool {
	for i := range p.Spec.Containers {
		if r.program(&p.Spec.Containers[i]) != "" {
			return true
		}
	}
	return false
}

// program is the executable that stands for a container; empty where there is none.
func (r *Runtime) program(c *corev1.Container) string {
	if len(c.Command) > 0 {
		return r.options.Programs[path.Base(c.Command[0])]
	}
	return r.options.Programs[repository(c.Image)]
}

// repository is the last element of an image's repository: daemok-controller of registry:5000/x/daemok-controller:v1@sha256:....
func repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	name, _, _ := strings.Cut(path.Base(image), ":")
	return name
}

// Sync starts the containers of a pod that are not started, and returns how those that are run
// here are, by name. Those of a pod that was killed are started once all have ended. Allocatable is the node's, for limits that the pod does not set.
func (r *Runtime) Sync(p *corev1.Pod, allocatable corev1.ResourceList) map[string]corev1.ContainerStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	running, ok := r.pods[p.UID]
	if !ok || running.killed.Load() && running.over() {
		running = newPod(r, p.DeepCopy(), allocatable)
		r.pods[p.UID] = running
		running.begin()
	}
	return running.statuses()
}

// Stop asks the containers of a pod to end and returns whether all have.
func (r *Runtime) Stop(p *corev1.Pod) (ended bool) {
	r.mu.Lock()
	running := r.pods[p.UID]
	r.mu.Unlock()
	return running == nil || running.stop()
}

// Kill ends the containers of a pod without a grace period and without waiting for it, as when its
// instance loses its power. Sync starts them again.
func (r *Runtime) Kill(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if running := r.pods[uid]; running != nil && !r.closed {
		r.leaving.Go(running.kill)
	}
}

// Forget ends what is left of a pod that is gone, without waiting for it.
func (r *Runtime) Forget(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if running := r.pods[uid]; running != nil && !r.closed {
		delete(r.pods, uid)
		r.leaving.Go(running.end)
	}
}

// Processes returns what runs, in no order.
func (r *Runtime) Processes() []Process {
	var all []Process
	for _, running := range r.running() {
		all = append(all, running.processes()...)
	}
	return all
}

// Restart ends the processes of the pod of a name and starts them again. It returns false where
// there is no such pod.
func (r *Runtime) Restart(name string) (found bool, err error) {
	for _, running := range r.running() {
		if running.spec.Name == name {
			return true, running.restart()
		}
	}
	return false, nil
}

// Close ends all processes and returns when they are gone.
func (r *Runtime) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	var wg sync.WaitGroup
	for _, running := range r.running() {
		wg.Go(running.end)
	}
	wg.Wait()
	r.leaving.Wait()
}

func (r *Runtime) running() []*pod {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*pod
	for _, running := range r.pods {
		if !running.over() {
			all = append(all, running)
		}
	}
	return all
}

// retryAfter is how long a container waits whose start failed for what it refers to.
const retryAfter = 2 * time.Second

// start starts one container's program. To ports it adds those of the container's that are not chosen yet.
func (p *pod) start(ctx context.Context, c *corev1.Container, ports map[int32]int) error {
	files, err := p.mount(ctx, c)
	if err != nil {
		return err
	}
	for _, declared := range c.Ports {
		if ports[declared.ContainerPort] != 0 {
			continue
		}
		if ports[declared.ContainerPort], err = p.runtime.options.Port(); err != nil {
			return err
		}
	}
	e := environment{pod: p.spec, container: c, allocatable: p.allocatable, options: &p.runtime.options, files: files, ports: ports}
	variables, err := e.variables(ctx)
	if err != nil {
		return err
	}
	if err := p.clearLogs(c.Name); err != nil {
		return err
	}
	kubeconfig := p.file("kubeconfig")
	if err := p.runtime.options.Kubeconfig(kubeconfig, files.at(accountFolder+"/token")); err != nil {
		return err
	}
	_, err = process.Keep(process.Program{
		Name: p.spec.Name, Path: p.runtime.program(c), Args: e.arguments(variables),
		Env: e.lines(variables, "KUBECONFIG="+kubeconfig, "HOME="+p.folder),
		Log: p.log(c.Name, false), Previous: p.log(c.Name, true),
		Grace: gracePeriod(p.spec), Started: func(k *process.Supervisor) { p.started(c, k, ports) }, Stopped: func(err error) { p.stopped(c.Name, err) },
	}, func(e process.Exit) { p.exited(c.Name, e) })
	return err
}

func (p *pod) log(container string, previous bool) string {
	return p.runtime.options.Log(p.spec.Namespace, p.spec.Name, container, previous)
}

// clearLogs removes what another pod of this name has left, before a container first runs. One that the API server
// says has run, before its instance lost its power or in an earlier Runtime, keeps its logs.
func (p *pod) clearLogs(container string) error {
	for _, s := range p.spec.Status.ContainerStatuses {
		if s.Name == container && (s.RestartCount > 0 || s.State.Running != nil || s.LastTerminationState.Terminated != nil) {
			return nil
		}
	}
	for _, previous := range []bool{false, true} {
		if err := os.Remove(p.log(container, previous)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the log of another pod: %w", err)
		}
	}
	return nil
}

// gracePeriod is how long a pod's containers may take to end.
func gracePeriod(p *corev1.Pod) time.Duration {
	if p.Spec.TerminationGracePeriodSeconds == nil {
		return corev1.DefaultTerminationGracePeriodSeconds * time.Second
	}
	return time.Duration(*p.Spec.TerminationGracePeriodSeconds) * time.Second
}
