package container_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/daemok/daemok/lab/container"
)

// The program of the containers in these tests is this one, which does as ROLE says.
func TestMain(m *testing.M) {
	switch os.Getenv("ROLE") {
	case "serve":
		os.Exit(serve())
	case "fail":
		fmt.Println("no cluster name")
		os.Exit(3)
	}
	os.Exit(m.Run())
}

// serve writes how it was started to the file STARTED names, answers at PORT that it is ready while
// a file READY is there, and ends with code 0 when it is asked to.
func serve() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	content, _ := json.Marshal(append(os.Environ(), os.Args[1:]...))
	if err := os.WriteFile(os.Getenv("STARTED"), content, 0o600); err != nil {
		return 1
	}
	http.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if _, err := os.Stat(os.Getenv("READY")); err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	server := &http.Server{Addr: "127.0.0.1:" + os.Getenv("PORT")}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	_ = server.ListenAndServe()
	fmt.Println("asked to end")
	if ctx.Err() == nil {
		return 1
	}
	return 0
}

// world is a Runtime with what it needs.
type world struct {
	*container.Runtime
	t       *testing.T
	client  *fake.Clientset
	changed chan struct{}
	folder  string // of what the test's programs write
}

func newWorld(t *testing.T, objects ...runtime.Object) *world {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, client: fake.NewClientset(objects...), changed: make(chan struct{}, 1), folder: t.TempDir()}
	program := w.file("program")
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	w.client.PrependReactor("create", "serviceaccounts", func(a clienttesting.Action) (bool, runtime.Object, error) {
		request := a.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenRequest)
		request.Status.Token = "token for " + strings.Join(request.Spec.Audiences, ",") + " of " + request.Spec.BoundObjectRef.Name
		return true, request, nil
	})
	w.Runtime, err = container.New(container.Options{
		Folder: filepath.Join(w.folder, "pods"), Programs: map[string]string{"daemok-controller": program}, Client: w.client,
		Kubeconfig:  func(file, tokenFile string) error { return os.WriteFile(file, []byte(tokenFile), 0o600) },
		Environment: []string{"AWS_ENDPOINT_URL=http://127.0.0.1:1", "ROLE=serve", "READY=" + w.file("ready"), "STARTED=" + w.file("started")},
		Addresses:   map[string]string{"http://169.254.170.23": "http://127.0.0.1:2"},
		Port:        freePort, Log: func(_, pod, _ string, previous bool) string { return w.file(fmt.Sprintf("%s.%v.log", pod, previous)) },
		Changed: func(_, _ string) {
			select {
			case w.changed <- struct{}{}:
			default:
			}
		},
		Say: t.Logf,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

func (w *world) file(name string) string { return filepath.Join(w.folder, name) }

// await syncs the pod at each change until the container is as wanted.
func (w *world) await(pod *corev1.Pod, what string, is func(corev1.ContainerStatus) bool) corev1.ContainerStatus {
	w.t.Helper()
	limit := time.After(time.Minute)
	for {
		s := w.Sync(pod, nil)["controller"]
		if is(s) {
			return s
		}
		select {
		case <-w.changed:
		case <-limit:
			w.t.Fatalf("the container is never %s, but %+v", what, s)
		}
	}
}

func runs(s corev1.ContainerStatus) bool { return s.State.Running != nil }

// started returns the environment and arguments that the program was started with.
func (w *world) started() map[string]bool {
	w.t.Helper()
	var lines []string
	for limit := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) { // written by another process
		content, err := os.ReadFile(w.file("started"))
		if err == nil && json.Unmarshal(content, &lines) == nil {
			break
		}
		if time.Now().After(limit) {
			w.t.Fatalf("the program does not start: %v", err)
		}
	}
	all := map[string]bool{}
	for _, l := range lines {
		all[l] = true
	}
	return all
}

func controllerPod() *corev1.Pod {
	field := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "karpenter-0", UID: "u0"},
		Spec: corev1.PodSpec{
			ServiceAccountName: "karpenter", NodeName: "node-1", TerminationGracePeriodSeconds: new(int64(20)),
			Volumes: []corev1.Volume{{Name: "api", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", Audience: "lab"}},
			}}}}},
			Containers: []corev1.Container{{
				Name: "controller", Image: "registry.example:5000/x/daemok-controller:v1@sha256:abc",
				Args:  []string{"--name=$(POD_NAME)", "$(NOT_KNOWN)"},
				Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8081}},
				Env: []corev1.EnvVar{
					{Name: "POD_NAME", ValueFrom: field("metadata.name")}, {Name: "NODE", ValueFrom: field("spec.nodeName")},
					{Name: "MEMORY_LIMIT", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.memory"}}},
					{Name: "GREETING", Value: "of $(POD_NAME)"}, {Name: "PORT", Value: "8081"},
					{Name: "AGENT", Value: "http://169.254.170.23/v1/credentials"},
					{Name: "TOKEN_FILE", Value: "/var/run/secrets/kubernetes.io/serviceaccount/token"},
				},
				Resources:    corev1.ResourceRequirements{Limits: corev1.ResourceList{"memory": resource.MustParse("1Ki")}},
				VolumeMounts: []corev1.VolumeMount{{Name: "api", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}},
				ReadinessProbe: &corev1.Probe{PeriodSeconds: 1, TimeoutSeconds: 5, SuccessThreshold: 1, FailureThreshold: 1, ProbeHandler: corev1.ProbeHandler{
					HTTPGet: &corev1.HTTPGetAction{Path: "/readyz", Port: intstr.FromString("http")}}},
			}},
		},
	}
}

func TestAContainerFindsWhatItsSpecNames(t *testing.T) {
	w := newWorld(t)
	pod := controllerPod()
	w.await(pod, "running", runs)
	got := w.started()
	here := filepath.Join(w.folder, "pods", "u0")
	token := filepath.Join(here, "volumes", "api", "token")
	port := 0
	for _, p := range w.Processes() {
		port = p.Ports["http"]
	}
	for _, want := range []string{
		"POD_NAME=karpenter-0", "NODE=node-1", "MEMORY_LIMIT=1024", "GREETING=of karpenter-0", "--name=karpenter-0", "$(NOT_KNOWN)",
		"AGENT=http://127.0.0.1:2/v1/credentials", "TOKEN_FILE=" + token, "KUBECONFIG=" + filepath.Join(here, "kubeconfig"),
		"AWS_ENDPOINT_URL=http://127.0.0.1:1", fmt.Sprintf("PORT=%d", port),
	} {
		if !got[want] {
			t.Errorf("the program was started without %s: %v", want, got)
		}
	}
	if content, err := os.ReadFile(token); err != nil || string(content) != "token for lab of karpenter-0" {
		t.Errorf("its token is %q, %v", content, err)
	}
	if content, err := os.ReadFile(filepath.Join(here, "kubeconfig")); err != nil || string(content) != token {
		t.Errorf("its kubeconfig names %q, %v; want %s", content, err, token)
	}
}

func TestAContainerIsReadyWhenItsProbeSaysSo(t *testing.T) {
	w := newWorld(t)
	pod := controllerPod()
	if s := w.await(pod, "running", runs); s.Ready {
		t.Error("it is ready before its probe succeeded")
	}
	if err := os.WriteFile(w.file("ready"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.await(pod, "ready", func(s corev1.ContainerStatus) bool { return s.Ready })
	if err := os.Remove(w.file("ready")); err != nil {
		t.Fatal(err)
	}
	w.await(pod, "unready again", func(s corev1.ContainerStatus) bool { return !s.Ready })
}

func TestAContainerThatEndsIsStartedAgain(t *testing.T) {
	w := newWorld(t)
	pod := controllerPod()
	pod.Spec.Containers[0].Env = append(pod.Spec.Containers[0].Env, corev1.EnvVar{Name: "ROLE", Value: "fail"})
	s := w.await(pod, "restarted", func(s corev1.ContainerStatus) bool { return s.RestartCount == 2 })
	if last := s.LastTerminationState.Terminated; last == nil || last.ExitCode != 3 || last.Reason != "Error" {
		t.Errorf("its last end is told as %+v, want exit code 3", last)
	}
	if s.Ready {
		t.Error("it is ready although it fails")
	}
}

// `daemok doctor` reads there why a controller does not start.
func TestTheEndOfAFailedContainersLogIsKept(t *testing.T) {
	for policy, want := range map[corev1.TerminationMessagePolicy]string{
		corev1.TerminationMessageFallbackToLogsOnError: "no cluster name\n",
		corev1.TerminationMessageReadFile:              "",
	} {
		t.Run(string(policy), func(t *testing.T) {
			w := newWorld(t)
			pod := controllerPod()
			c := &pod.Spec.Containers[0]
			c.TerminationMessagePolicy, c.Env = policy, append(c.Env, corev1.EnvVar{Name: "ROLE", Value: "fail"})
			s := w.await(pod, "restarted", func(s corev1.ContainerStatus) bool { return s.RestartCount == 1 })
			if got := s.LastTerminationState.Terminated.Message; got != want {
				t.Errorf("its last end has the message %q, want %q", got, want)
			}
		})
	}
}

func TestAContainerThatFailsItsLivenessProbeIsRestarted(t *testing.T) {
	w := newWorld(t)
	pod := controllerPod()
	c := &pod.Spec.Containers[0]
	c.LivenessProbe, c.ReadinessProbe = c.ReadinessProbe, nil
	c.LivenessProbe.FailureThreshold = 3
	w.await(pod, "restarted", func(s corev1.ContainerStatus) bool { return s.RestartCount > 0 })
	if err := os.WriteFile(w.file("ready"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.await(pod, "ready", func(s corev1.ContainerStatus) bool { return runs(s) && s.Ready })
}

func TestAContainerIsReadyAndSaysHowItEndedAfterARestart(t *testing.T) {
	w := newWorld(t)
	pod := controllerPod()
	pod.Spec.Containers[0].ReadinessProbe = nil
	w.await(pod, "ready", func(s corev1.ContainerStatus) bool { return runs(s) && s.Ready })
	w.started()
	if found, err := w.Restart(pod.Name); !found || err != nil {
		t.Fatalf("restart: %v, %v", found, err)
	}
	s := w.await(pod, "ready again", func(s corev1.ContainerStatus) bool { return s.RestartCount == 1 && runs(s) && s.Ready })
	if last := s.LastTerminationState.Terminated; last == nil || last.ExitCode != 0 || last.Reason != "Completed" {
		t.Errorf("it ended with code 0 when it was asked to, and its last end is told as %+v", last)
	}
}

// What ended is the run, once: that its successor does not start is no further end.
func TestAContainerThatCannotBeStartedAgainHasEndedOnce(t *testing.T) {
	w := newWorld(t)
	pod := controllerPod()
	w.await(pod, "running", runs)
	w.started()
	if err := os.Remove(w.file("program")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Restart(pod.Name); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("restart without its program = %v, want that it does not exist", err)
	}
	s := w.Sync(pod, nil)["controller"]
	if last := s.LastTerminationState.Terminated; s.RestartCount != 1 || last == nil || last.ExitCode != 0 || last.StartedAt.IsZero() {
		t.Errorf("it ended once with code 0, and is told to have been restarted %d times, at last after %+v", s.RestartCount, last)
	}
	if s.State.Waiting == nil || !strings.Contains(s.State.Waiting.Message, "no such file") {
		t.Errorf("its state is %+v, want that it waits since its program is not there", s.State)
	}
}

// A pod has no log of another one that had its name.
func TestANewPodHasNoLogsOfAnother(t *testing.T) {
	w := newWorld(t)
	for _, previous := range []bool{false, true} {
		if err := os.WriteFile(w.file(fmt.Sprintf("karpenter-0.%v.log", previous)), []byte("of another pod"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pod := controllerPod()
	w.await(pod, "running", runs)
	if content, err := os.ReadFile(w.file("karpenter-0.true.log")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the first run of a pod has a log %q (%v) of a run before", content, err)
	}
	if content, err := os.ReadFile(w.file("karpenter-0.false.log")); err != nil || strings.Contains(string(content), "another") {
		t.Errorf("its log is %q, %v; want what it printed alone", content, err)
	}
}

func TestAContainerWaitsForWhatItRefersTo(t *testing.T) {
	w := newWorld(t)
	pod := controllerPod()
	pod.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}}
	s := w.await(pod, "refused", func(s corev1.ContainerStatus) bool {
		return s.State.Waiting != nil && s.State.Waiting.Reason == "CreateContainerConfigError"
	})
	if !strings.Contains(s.State.Waiting.Message, `"settings" not found`) {
		t.Errorf("it waits because %s, want the name of the ConfigMap", s.State.Waiting.Message)
	}
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "settings"}, Data: map[string]string{"LOG_LEVEL": "debug"}}
	if err := w.client.Tracker().Add(settings); err != nil {
		t.Fatal(err)
	}
	w.await(pod, "running", runs)
	if !w.started()["LOG_LEVEL=debug"] {
		t.Error("it runs without the ConfigMap's variable")
	}
}

// While a container waits for a ConfigMap, and while no token is issued, the API server is not asked
// more often than the life of a token needs.
func TestTokensAreRenewedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		client := fake.NewClientset()
		client.PrependReactor("create", "serviceaccounts", func(a clienttesting.Action) (bool, runtime.Object, error) {
			if asked++; asked > 100 {
				panic("the API server is asked for tokens without a pause")
			}
			if asked > 1 {
				return true, nil, errors.New("the API server is away")
			}
			return true, a.(clienttesting.CreateAction).GetObject(), nil
		})
		ports := 0
		r, err := container.New(container.Options{
			Folder: t.TempDir(), Programs: map[string]string{"daemok-controller": "/not/started"}, Client: client,
			Kubeconfig: func(string, string) error { return nil }, Port: func() (int, error) { ports++; return ports, nil },
			Changed: func(_, _ string) {}, Say: func(string, ...any) {},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		pod := controllerPod()
		pod.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "none"}}}}
		r.Sync(pod, nil)
		time.Sleep(59 * time.Minute) // the first is renewed after 48 minutes, and asked for again each 144 s
		synctest.Wait()
		if asked != 1+5 {
			t.Errorf("in 59 minutes %d tokens were asked for, want 6", asked)
		}
		if ports != 1 {
			t.Errorf("for one port %d were taken", ports)
		}
	})
}

func TestAPodThatGoesIsAskedToEnd(t *testing.T) {
	w := newWorld(t)
	pod := controllerPod()
	w.await(pod, "running", runs)
	w.started()
	limit := time.After(time.Minute)
	for !w.Stop(pod) {
		select {
		case <-w.changed:
		case <-limit:
			t.Fatal("it never ends")
		}
	}
	if content, err := os.ReadFile(w.file("karpenter-0.false.log")); err != nil || !strings.Contains(string(content), "asked to end") {
		t.Errorf("its log is %q, %v; want that it was asked", content, err)
	}
	w.Forget(pod.UID)
	if left := w.Processes(); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// A pod that was deleted by force leaves no process behind.
func TestCloseWaitsForPodsThatAreGone(t *testing.T) {
	w := newWorld(t)
	pod := controllerPod()
	w.await(pod, "running", runs)
	w.started()
	pid := w.Processes()[0].PID
	w.Forget(pod.UID)
	w.Close()
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d after Close: %v, want that there is none", pid, err)
	}
}

// An instance that loses its power takes the pod's processes with it, and starts them when it has power
// again.
func TestAKilledPodIsStartedAgain(t *testing.T) {
	w := newWorld(t)
	pod := controllerPod()
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{w.await(pod, "running", runs)}
	w.started()
	pid := w.Processes()[0].PID
	w.Kill(pod.UID)
	s := w.await(pod, "started again", func(s corev1.ContainerStatus) bool { return runs(s) && s.RestartCount == 1 })
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d of the pod that was killed: %v, want that there is none", pid, err)
	}
	if last := s.LastTerminationState.Terminated; last == nil || last.Reason != "Unknown" {
		t.Errorf("its last end is told as %+v, want reason Unknown", last)
	}
	if log, err := os.ReadFile(w.file("karpenter-0.true.log")); err != nil || strings.Contains(string(log), "asked to end") {
		t.Errorf("its log is %q, %v; want that it was not asked", log, err)
	}
}

// After a restart of the lab the API server still says that the pod runs.
func TestAPodOfAnEarlierLabIsStartedAgain(t *testing.T) {
	w := newWorld(t)
	pod := controllerPod()
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "controller", RestartCount: 1, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	if s := w.await(pod, "running", runs); s.RestartCount != 2 {
		t.Errorf("it was restarted %d times, want 2", s.RestartCount)
	}
}

func TestOnlyPodsWithAProgramRun(t *testing.T) {
	w := newWorld(t)
	for image, want := range map[string]bool{
		"ghcr.io/daemok/daemok-controller": true, "localhost:5000/mirror/daemok-controller:v1.0": true,
		"daemok-controller@sha256:0": true, "nginx": false, "ghcr.io/daemok-controller/other:v1": false,
	} {
		if got := w.Runs(&corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: image}}}}); got != want {
			t.Errorf("a pod of image %s runs: %v, want %v", image, got, want)
		}
	}
}
