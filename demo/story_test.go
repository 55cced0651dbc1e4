package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	"sigs.k8s.io/yaml"
)

// scene is one thing that the watches show, some time after the one before.
type scene struct {
	after  time.Duration
	gone   bool
	object string // YAML
}

func ready(kind string) string {
	return fmt.Sprintf("{kind: %s, metadata: {name: default}, status: {conditions: [{type: Ready, status: 'True'}]}}", kind)
}

func waitingPod(name string) string {
	return fmt.Sprintf("{kind: Pod, metadata: {name: %s}, status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: no nodes available}]}}", name)
}

func runningPod(name string) string {
	return fmt.Sprintf("{kind: Pod, metadata: {name: %s}, status: {phase: Running, conditions: [{type: PodScheduled, status: 'True'}, {type: Ready, status: 'True'}]}}", name)
}

const decisionText = `{"type":"m7i.large","zone":"us-east-1a","option":"on-demand","price":0.1008,"runnersUp":[{"type":"m6i.large","zone":"us-east-1b","option":"on-demand","price":0.11,"whyNot":"more expensive by 9 %"}]}`

func claimWith(conditions, extra string) string {
	return fmt.Sprintf("{kind: NodeClaim, metadata: {name: default-x1, annotations: {daemok.sh/decision: '%s'}%s}, status: {providerID: 'aws:///us-east-1a/i-1', conditions: [%s]}}",
		decisionText, extra, conditions)
}

func nodeWith(readyStatus, taints string) string {
	return fmt.Sprintf("{kind: Node, metadata: {name: ip-10-0-1-2}, spec: {providerID: 'aws:///us-east-1a/i-1', taints: [%s]}, status: {conditions: [{type: Ready, status: '%s', reason: KubeletNotReady, message: CNI missing}]}}",
		taints, readyStatus)
}

const (
	launched   = "{type: Launched, status: 'True'}"
	registered = launched + ", {type: Registered, status: 'True'}"
	ownTaint   = "{key: karpenter.sh/unregistered, effect: NoExecute}"
)

// up is how two pods get an instance, down how it goes.
var (
	setUp = []scene{{object: ready("EC2NodeClass")}, {object: ready("NodePool")}}
	up    = []scene{
		{after: 10 * time.Millisecond, object: waitingPod("a")},
		{after: 10 * time.Millisecond, object: waitingPod("b")},
		{after: 1100 * time.Millisecond, object: claimWith("", "")},
		{after: 100 * time.Millisecond, object: claimWith("{type: Launched, status: Unknown, reason: LaunchFailed, message: profile unknown}", "")},
		{after: 100 * time.Millisecond, object: claimWith(launched, "")},
		{after: 8 * time.Second, object: nodeWith("False", ownTaint)},
		{after: 50 * time.Millisecond, object: claimWith(registered, "")},
		{after: 3 * time.Second, object: nodeWith("True", "")},
		{after: 100 * time.Millisecond, object: runningPod("a")},
		{after: 100 * time.Millisecond, object: runningPod("b")},
	}
	down = []scene{
		{after: 20 * time.Millisecond, gone: true, object: runningPod("a")},
		{after: 20 * time.Millisecond, gone: true, object: runningPod("b")},
		{after: 30*time.Second + 300*time.Millisecond, object: claimWith(registered, ", deletionTimestamp: '2026-01-01T00:00:00Z'")},
		{after: time.Second, gone: true, object: nodeWith("True", "")},
		{after: 5 * time.Second, gone: true, object: claimWith(registered, "")},
	}
)

// play runs the story over scripted watches, in virtual time.
func play(t *testing.T, acts ...[]scene) (out string, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var printed bytes.Buffer
		sightings := make(chan sighting)
		client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
			map[schema.GroupVersionResource]string{{Version: "v1", Resource: "events"}: "EventList"})
		s := &story{user: &user{client}, sightings: sightings, world: newWorld(), out: &printed,
			now: time.Now, logs: "logs", pods: 2, timeScale: 0.2}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			for _, act := range acts {
				for _, sc := range act {
					time.Sleep(sc.after)
					select {
					case sightings <- sighting{object(t, sc.object), sc.gone, time.Now()}:
					case <-ctx.Done():
						return
					}
				}
			}
		}()
		if _, err = s.follow(ctx, s.now(), settingUp()); err == nil {
			if _, err = s.follow(ctx, s.now(), goingUp(s.pods, s.timeScale)); err == nil {
				_, err = s.follow(ctx, s.now(), goingDown(s.timeScale))
			}
		}
		out = printed.String()
	})
	return out, err
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	var o unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatalf("scene is no YAML: %v\n%s", err, text)
	}
	return &o
}

const wholeStory = `
demo: EC2NodeClass and NodePool are ready
WAIT FOR   WHICH                         0s                     12.6s
scheduler  finds no node for the pods    █                               0.02s
Daemok     batch window (1s), plan       ██                              1.10s
AWS        launches a new instance         █                             0.20s
AWS        boots the instance               ██████████████████           8.00s
Daemok     registers the node                                 █          0.05s
kubelet    reports the node Ready                             ███████    3.00s
Daemok     removes the startup taint                                █    0.00s
scheduler  binds the pods, they start                               █    0.20s
in all: AWS 8.20s, kubelet 3.00s, Daemok 1.15s, scheduler 0.22s
launched m7i.large in us-east-1a, on-demand, $0.1008 an hour
  next best m6i.large in us-east-1b, on-demand, $0.1100 an hour: more
    expensive by 9 %
  on the way: LaunchFailed profile unknown
WAIT FOR   WHICH                         0s                     36.3s
kubelet    stops the pods                █                               0.04s
NodePool   consolidateAfter: 30s         ███████████████████████        30.00s
Daemok     taints and checks the node                           █        0.30s
AWS        terminates the instance                              █████    6.00s
in all: NodePool 30.00s, AWS 6.00s, Daemok 0.30s, kubelet 0.04s
`

func TestTheStoryShowsWhoIsWaitedFor(t *testing.T) {
	out, err := play(t, setUp, up, down)
	if err != nil {
		t.Fatal(err)
	}
	if out != wholeStory[1:] {
		t.Errorf("the story is\n%swant\n%s", out, wholeStory[1:])
	}
}

// On a terminal the chart grows: what has not begun has no bar yet, and the running one ends now.
func TestAChartThatGrows(t *testing.T) {
	start := time.Unix(0, 0)
	all := bars([]wait{{byScheduler, "finds no node", start.Add(time.Second)}, {byAWS, "boots", time.Time{}}, {byKubelet, "is Ready", time.Time{}}}, start, start.Add(3*time.Second))
	var out bytes.Buffer
	c := newChart(&out, 4*time.Second)
	c.draw(all)
	first := out.String()
	want := "WAIT FOR   WHICH                         0s                      4.0s\n" +
		"scheduler  finds no node                 ███████                         1.00s\n" +
		"AWS        boots                                ██████████████           2.00s\n" +
		"kubelet    is Ready\n"
	if first != want {
		t.Errorf("the chart is\n%swant\n%s", first, want)
	}
	out.Reset()
	if c.draw(all); out.String() != "\x1b[4A\r\x1b[J"+want {
		t.Errorf("drawn again it is %q", out.String())
	}
}

// TestAStepThatDoesNotCome cuts the script at one place after the other.
func TestAStepThatDoesNotCome(t *testing.T) {
	tests := map[string]struct {
		acts [][]scene
		step string
		want string
		log  string
	}{
		"a pool that is never ready":        {[][]scene{setUp[:1]}, "node pool ready", "EC2NodeClass default: ready", "logs/controller.log"},
		"no pods":                           {[][]scene{setUp}, "pending", "no pods of inflate", "logs/controller-manager.log"},
		"no decision":                       {[][]scene{setUp, up[:2]}, "decide", "a Pending (no nodes available); b Pending", "logs/controller.log"},
		"no machine":                        {[][]scene{setUp, up[:3]}, "launch", "NodeClaim default-x1", "logs/controller.log"},
		"claims that are given up":          {[][]scene{setUp, up[:3], {{after: time.Second, gone: true, object: claimWith("", "")}}}, "launch", "1 NodeClaims were abandoned before they had an instance", "logs/controller.log"},
		"a machine that never registers":    {[][]scene{setUp, up[:5]}, "registered", "NodeClaim default-x1 Launched=True", "logs/controller.log"},
		"a node that never gets ready":      {[][]scene{setUp, up[:7]}, "ready", "node ip-10-0-1-2 is not ready (KubeletNotReady CNI missing)", "logs/controller.log"},
		"pods that never run":               {[][]scene{setUp, up[:9]}, "running", "b Pending", "logs/scheduler.log"},
		"pods that never go":                {[][]scene{setUp, up, down[:1]}, "empty", "b Running", "logs/controller-manager.log"},
		"an empty node that stays for ever": {[][]scene{setUp, up, down[:2]}, "leaving", "Registered=True", "logs/controller.log"},
		"a machine that never stops":        {[][]scene{setUp, up, down[:4]}, "removed", "being deleted", "logs/controller.log"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := play(t, tt.acts...)
			var missing *StepError
			if !errors.As(err, &missing) {
				t.Fatalf("the story ends with %v; want a step that did not come", err)
			}
			if missing.Step != tt.step || !strings.Contains(missing.Instead, tt.want) || missing.Log != tt.log {
				t.Errorf("got step %q, instead %q, log %q; want %q, %q, %q",
					missing.Step, missing.Instead, missing.Log, tt.step, tt.want, tt.log)
			}
		})
	}
}

func TestStepErrorIsALessonInFourLines(t *testing.T) {
	err := &StepError{Step: "launch", Limit: time.Minute, Instead: "nothing", Warnings: []string{"NodeClaim x: LaunchFailed: no"}, Log: "logs/controller.log"}
	want := "demo: step \"launch\" did not come within 1m0s\n  seen instead: nothing\n  warning event: NodeClaim x: LaunchFailed: no\n  read: logs/controller.log"
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}

func TestTimesAreGoDurations(t *testing.T) {
	took := map[string]time.Duration{}
	w := newWorld()
	mark(w, []step{{name: "x", reached: func(*world) bool { return true }}}, took, 1234567*time.Microsecond)
	if got := fmt.Sprint(took["x"]); !regexp.MustCompile(`^1\.235s$`).MatchString(got) {
		t.Errorf("a time is printed as %q; want 1.235s", got)
	}
}
