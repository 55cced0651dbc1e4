package whole_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/fakecloud"
	"github.com/daemok/daemok/test/market"
)

// The heavier pool launches of one family alone, of which nothing is to be had. However the
// pods are cut, one plan or two teach that: what they ask for does not become smaller and
// smaller, and the pods are launched for of the other pool's family.
func TestAnUnavailableFamilyIsLeft(t *testing.T) {
	var offered []string
	for _, size := range []string{"large", "xlarge", "2xlarge", "4xlarge", "9xlarge", "12xlarge", "18xlarge", "24xlarge"} {
		offered = append(offered, "c5."+size)
	}
	others := []string{"m5.large", "m5.xlarge", "m5.2xlarge", "m5.4xlarge", "m5.8xlarge", "m5.12xlarge", "m5.16xlarge", "m5.24xlarge"}
	for pods, most := range map[int]int{117: 2, 198: 2, 212: 3} {
		t.Run(fmt.Sprintf("%d pods", pods), func(t *testing.T) {
			reportAWSWith(t, fakecloud.Options{Seed: 57, Types: append(others, offered...)}, func(t *testing.T, w *world) {
				for _, kind := range offered {
					for _, zone := range []string{"us-east-1a", "us-east-1b", "us-east-1c", "us-east-1d", "us-east-1e", "us-east-1f"} {
						w.cloud.Market().SetCapacity(market.Pool{Kind: kind, Zone: zone, Option: market.OnDemand}, 0, 0)
					}
				}
				w.pool("default", ofFamily("c5", 50))
				w.pool("other", ofFamily("m5", 1))
				w.start(setup{})
				time.Sleep(time.Minute)
				began := time.Now()
				w.deploy("web", pods, func(p *corev1.Pod) {
					p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("900m")
				})
				w.until(time.Minute, "machines of the other family bought", func() bool { return w.launched() > 0 && len(w.claims()) == len(w.instances()) })
				t.Logf("bought after %v, by plan %d", time.Since(began), w.story.count("made a plan"))
				if plans := w.story.count("made a plan"); plans > most {
					t.Errorf("the family was left by plan %d, want %d at most", plans, most)
				}
				w.until(5*time.Minute, "all pods to run", func() bool { return w.run(pods) })
			})
		})
	}
}

// ofFamily has a pool of that weight launch instances of one family on demand.
func ofFamily(family string, weight int32) func(*karpv1.NodePool) {
	return func(p *karpv1.NodePool) {
		p.Spec.Weight = &weight
		p.Spec.Template.Spec.Requirements = []karpv1.Requirement{
			{Key: api.LabelFamily, Operator: "In", Values: []string{family}},
			{Key: api.LabelCapacityType, Operator: "In", Values: []string{"on-demand"}},
		}
	}
}
