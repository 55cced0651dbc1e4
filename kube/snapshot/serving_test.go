package snapshot

import (
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// served is a pod of Service web; it is ready unless something changes that.
func served(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	return pod(name, "1", "a", append([]func(*corev1.Pod){func(p *corev1.Pod) {
		p.Labels = map[string]string{"app": "web"}
		p.Annotations = map[string]string{api.MarkKeepReady: "true"}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}}, change...)...)
}

func unready(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }

func says(value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Annotations = map[string]string{api.MarkKeepReady: value}
		if value == "" {
			p.Annotations = nil
		}
	}
}

// TestTheLastReadyPodOfAServiceIsKnown: where it, or its pool, asks to keep such
// pods, and there is another that may become ready.
func TestTheLastReadyPodOfAServiceIsKnown(t *testing.T) {
	tests := map[string]struct {
		pool map[string]string
		pods []*corev1.Pod
		want string // of the first
	}{
		"another is not ready":           {nil, []*corev1.Pod{served("web-1"), served("web-2", unready)}, "web"},
		"another has no node":            {nil, []*corev1.Pod{served("web-1"), served("web-2", unready, func(p *corev1.Pod) { p.Spec.NodeName = "" })}, "web"},
		"another is ready":               {nil, []*corev1.Pod{served("web-1"), served("web-2")}, ""},
		"another is ending":              {nil, []*corev1.Pod{served("web-1"), served("web-2", ending)}, "web"},
		"there is no other":              {nil, []*corev1.Pod{served("web-1")}, ""},
		"another is of no such Service":  {nil, []*corev1.Pod{served("web-1"), served("db-1", unready, func(p *corev1.Pod) { p.Labels = nil })}, ""},
		"it is not ready itself":         {nil, []*corev1.Pod{served("web-1", unready), served("web-2", unready)}, ""},
		"it does not ask":                {nil, []*corev1.Pod{served("web-1", says("")), served("web-2", unready)}, ""},
		"its pool asks":                  {map[string]string{api.MarkKeepReady: "true"}, []*corev1.Pod{served("web-1", says("")), served("web-2", unready)}, "web"},
		"its pool asks, and it does not": {map[string]string{api.MarkKeepReady: "true"}, []*corev1.Pod{served("web-1", says("false")), served("web-2", unready)}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			k := newKeeper()
			k.NodeSeen(node("a"))
			k.ClaimSeen(claimOf("a", karpv1.ClaimRegistered, karpv1.ClaimInitialized))
			k.PoolSeen(translate.PoolObject{ID: cluster.PoolID{Kind: translate.KindNodePool, Name: "default"}, Object: &karpv1.NodePool{}, Annotations: maps.Clone(tt.pool)})
			for _, service := range []string{"web", "also"} {
				s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: service}}
				s.Spec.Selector = map[string]string{"app": service}
				k.ServiceSeen(s)
			}
			for _, p := range tt.pods {
				k.PodSeen(p, true)
			}
			pods := k.Snapshot().Nodes[0].Pods
			at := slices.IndexFunc(pods, func(p cluster.Pod) bool { return p.Name == "web-1" })
			if got := pods[at].LastOf; got != tt.want {
				t.Errorf("it is the last of %q, want %q", got, tt.want)
			}
		})
	}
}

// A node that is kept for its last ready pod is thought of again when another is
// ready.
func TestAPodThatGetsReadyBesideAnotherAsksForAPlan(t *testing.T) {
	k := newKeeper()
	k.PodSeen(served("web-1"), true)
	k.PodSeen(served("web-2", unready), true)
	<-k.Changed()
	k.PodSeen(served("web-2"), false)
	select {
	case <-k.Changed():
	default:
		t.Error("nobody is told")
	}
}
