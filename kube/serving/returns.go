package serving

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// Owners are controllers of pods as the API server has them, each read once. They are for one check
// of pods.
type Owners struct {
	From       client.Reader
	Autoscaler mark.ClusterAutoscaler // whether what users wrote for it counts
	known      map[types.UID]podspec.Workload
}

// Judge says of a pod, as podspec.Pod made it, whether its controller creates another in
// its place and, where it does not, whether work ends with it.
func (o *Owners) Judge(ctx context.Context, p *cluster.Pod, pod *corev1.Pod) error {
	of := metav1.GetControllerOfNoCopy(pod)
	if !p.Returns || p.Node == "" || podspec.OwnerKind(pod) == nil {
		return nil
	}
	w, known := o.known[of.UID]
	if !known {
		owner, err := OwnerOf(ctx, o.From, pod)
		if err != nil {
			return err
		}
		if owner != nil {
			w = podspec.WorkloadOf(owner)
		}
		if o.known == nil {
			o.known = map[types.UID]podspec.Workload{}
		}
		o.known[of.UID] = w
	}
	w.Judge(p, of.Name, podspec.StandingOf(pod, o.Autoscaler))
	return nil
}
