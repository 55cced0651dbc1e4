package termination

import (
	"context"
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/surge"
	"github.com/daemok/daemok/kube/translate/podspec"
	"github.com/daemok/daemok/test/store"
)

var surging = map[string]string{api.AnnotationSurge: "true"}

// single runs the only pod of a Deployment on the node that leaves.
func (w *town) single(change func(*appsv1.Deployment)) {
	w.run("web", leaves, w.deployment("web", 1, surging, change), surging)
	w.watch("web")
}

func TestAWorkloadOfOneReplicaNeverHasNone(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		w.single(nil)
		w.leave(time.Minute, "two replicas", func() bool { n, _ := w.replicas("web"); return n == 2 })
		w.leave(3*time.Minute, "the node gone, and one replica again", w.isSingle)
		if w.fewest["web"] < 1 || w.made != 2 {
			t.Errorf("%d pods were ready at the worst moment, and %d made, want 1 and 2", w.fewest["web"], w.made)
		}
		if pods := w.pods("web"); len(pods) != 1 || pods[0].Spec.NodeName != stays || !podspec.IsUp(&pods[0]) {
			t.Errorf("%d pods in the end, want one that is ready on the node that stays", len(pods))
		}
	})
}

// isSingle reports whether the node is gone and the workload as it was.
func (w *town) isSingle() bool {
	n, surges := w.replicas("web")
	return w.gone() && n == 1 && surges == 0 && len(w.pods("web")) == 1
}

var forbidden = apierrors.NewForbidden(schema.GroupResource{Group: "autoscaling",
	Resource: "horizontalpodautoscalers"}, "", errors.New("no"))

var errDead = errors.New("the controller died here")

// Whichever write the controller dies before or after, the next one ends with
// one replica, and one was ready all the time.
func TestASurgeSurvivesTheDeathOfTheController(t *testing.T) {
	for _, after := range []bool{false, true} {
		for at := range 8 {
			inTown(t, func(t *testing.T, w *town) {
				writes := 0
				w.fault = func(c store.Call) (error, error) {
					if !c.Writes() {
						return nil, nil
					}
					if writes++; writes-1 != at {
						return nil, nil
					}
					if after {
						return nil, errDead
					}
					return errDead, nil
				}
				w.single(nil)
				w.leave(5*time.Minute, "the node gone, and one replica again", w.isSingle)
				if w.fewest["web"] < 1 {
					t.Errorf("write %d, died after it: %v: no pod was ready for a while", at, after)
				}
			})
		}
	}
}

// The first pod of a StatefulSet comes back under its name before the second
// goes.
func TestAStatefulSetOfOneReplicaNeverHasNone(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		s := w.set("db", surging, nil)
		w.run("db", leaves, s, surging)
		w.watch("db")
		w.leave(5*time.Minute, "the node gone, and one replica again", func() bool {
			w.get("db", s)
			return w.gone() && *s.Spec.Replicas == 1 && w.surges() == 0 && len(w.pods("db")) == 1
		})
		if w.fewest["db"] < 1 {
			t.Error("no pod was ready for a while")
		}
	})
}

// A second replica that does not come ready holds the drain for ten minutes.
func TestASurgeThatFailsEnds(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		w.single(nil)
		w.readyAfter = -1
		began := time.Now()
		w.leave(15*time.Minute, "the node gone, and one replica again", w.isSingle)
		if took := time.Since(began); took < surgeFor || !w.reported.has("SurgeFailed") {
			t.Errorf("it ended after %v, want %v and an event that says so", took, surgeFor)
		}
	})
}

// Somebody sets the replicas while there are two: what they want counts.
func TestReplicasThatAUserSetsStay(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		w.single(nil)
		w.readyAfter = time.Minute
		w.leave(time.Minute, "two replicas", func() bool { n, _ := w.replicas("web"); return n == 2 })
		d := &appsv1.Deployment{}
		w.get("web", d)
		d.Spec.Replicas = new(int32(5))
		if err := w.hand.Update(context.Background(), d); err != nil {
			t.Fatal(err)
		}
		w.leave(5*time.Minute, "the node and the record gone", func() bool { return w.gone() && w.surges() == 0 })
		if n, _ := w.replicas("web"); n != 5 {
			t.Errorf("%d replicas, want the 5 that somebody set", n)
		}
	})
}

// A record whose pod or node is no longer there is found after a start.
func TestARecordedSurgeIsScaledBackAfterAStart(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		w.deployment("web", 2, surging, nil)
		w.record(surge.Record{Kind: "Deployment", Namespace: "default", Name: "web", PodUID: "gone"})
		w.record(surge.Record{Kind: "StatefulSet", Namespace: "default", Name: "deleted", PodUID: "gone-too"})
		w.on(time.Minute, "one replica", func() bool { n, surges := w.replicas("web"); return n == 1 && surges == 0 })
	})
}

func (w *town) record(s surge.Record) {
	w.t.Helper()
	if err := recordsOf(w.hand).Add(context.Background(), s); err != nil {
		w.t.Fatal(err)
	}
}

// The workload is written to through its scale alone: a controller's token must not
// be worth the templates of all workloads.
func TestASurgeWritesNothingButTheScale(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		scaled := 0
		w.fault = func(c store.Call) (error, error) {
			if c.Writes() && c.Kind == "Deployment" {
				scaled++
				if !c.Scale {
					t.Errorf("%s, want writes to the scale alone", c)
				}
			}
			return nil, nil
		}
		w.single(nil)
		w.leave(5*time.Minute, "the node gone, and one replica again", w.isSingle)
		if scaled != 2 {
			t.Errorf("scaled %d times, want 2", scaled)
		}
	})
}

// Somebody scales the workload in the moment in which it is to be scaled up: what
// they set stays.
func TestAScaleByAUserWins(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		w.fault = func(c store.Call) (error, error) {
			if c.Scale {
				d := &appsv1.Deployment{}
				if w.get("web", d); *d.Spec.Replicas == 1 {
					d.Spec.Replicas = new(int32(surged))
					if err := w.hand.Update(context.Background(), d); err != nil {
						t.Error(err)
					}
				}
			}
			return nil, nil
		}
		w.single(nil)
		w.leave(5*time.Minute, "the node gone", w.gone)
		w.on(time.Minute, "no record", func() bool { return w.surges() == 0 })
		if n, _ := w.replicas("web"); n != surged {
			t.Errorf("%d replicas, want the %d that somebody set", n, surged)
		}
	})
}

func TestWorkloadsThatMustNotSurgeDoNot(t *testing.T) {
	owner := func(operation metav1.ManagedFieldsOperationType) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) {
			d.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "flux", Operation: operation,
				FieldsType: "FieldsV1",
				FieldsV1:   metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`)}}
		}
	}
	tests := map[string]struct {
		change  func(*appsv1.Deployment)
		prepare func(w *town)
		says    string // of the event; empty: it surges
	}{
		"nothing is in the way":           {nil, nil, ""},
		"another wrote the replicas once": {owner(metav1.ManagedFieldsOperationUpdate), nil, ""},
		"another keeps the replicas": {owner(metav1.ManagedFieldsOperationApply), nil,
			"field manager flux owns spec.replicas"},
		"an autoscaler sets them": {nil, func(w *town) { w.scaler("web") },
			"HorizontalPodAutoscaler web sets its replicas"},
		"an autoscaler sets those of another":   {nil, func(w *town) { w.scaler("api") }, ""},
		"two of its pods must not run together": {func(d *appsv1.Deployment) { d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType }, nil, "its strategy is Recreate"},
		"the controller may not scale": {nil, func(w *town) {
			w.fault = func(c store.Call) (error, error) {
				if c.Scale {
					return forbidden, nil
				}
				return nil, nil
			}
		}, "the controller has no right to"},
		"the controller may not read what it recorded": {nil, func(w *town) {
			w.fault = func(c store.Call) (error, error) {
				if c.Kind == "ConfigMap" {
					return forbidden, nil
				}
				return nil, nil
			}
		}, "the controller has no right to"},
		"the controller may not look for autoscalers": {nil, func(w *town) {
			w.fault = func(c store.Call) (error, error) {
				if c.Kind == "HorizontalPodAutoscalerList" {
					return forbidden, nil
				}
				return nil, nil
			}
		}, "the controller has no right to"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inTown(t, func(t *testing.T, w *town) {
				w.single(tt.change)
				if tt.prepare != nil {
					tt.prepare(w)
				}
				w.leave(5*time.Minute, "the node gone", w.isSingle)
				if surged := w.reported.has("Surged"); surged != (tt.says == "") || !surged && !w.reported.has("SurgeSkipped: no second replica before pod web-1 goes: "+tt.says) {
					t.Errorf("surged: %v, want event with %q; have %q", surged, tt.says, w.reported.texts)
				}
			})
		})
	}
}

// A volume that can be on one node alone keeps a second pod from starting.
func TestAVolumeOfOneNodeForbidsASurge(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		w.attach("data", "data", stays)
		p := w.run("web", leaves, w.deployment("web", 1, surging, nil), surging)
		p.Spec.Volumes = []corev1.Volume{{Name: "data",
			VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
		if err := w.hand.Update(context.Background(), p); err != nil {
			t.Fatal(err)
		}
		w.leave(3*time.Minute, "the node gone", w.gone)
		if !w.reported.has("the volume of PersistentVolumeClaim data can be on one node alone") {
			t.Errorf("no event says why there was no surge: %q", w.reported.texts)
		}
	})
}

func TestAStatefulSetWithVolumesOfItsOwnDoesNotSurge(t *testing.T) {
	w := &workload{&appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{}}}}, "StatefulSet"}
	if why := unsuited(w); why == "" {
		t.Error("nothing is in the way, want the volumes")
	}
}
