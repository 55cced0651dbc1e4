package whole_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/fingerprint"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/fakecloud"
	"github.com/daemok/daemok/test/store"
)

// Claims are made while their pool's template is edited again and again, and
// while the pool's own hash cannot be written: each claim carries the hash of
// the template that it was made from, whichever that is.
func TestAClaimCarriesTheHashOfItsOwnTemplate(t *testing.T) {
	report(t, fakecloud.Options{Seed: 80}, func(t *testing.T, w *world) {
		var late atomic.Bool
		w.start(setup{lag: fixed(60 * time.Millisecond), fault: func(c store.Call) (error, error) {
			if late.Load() && c.Kind == "NodePool" && c.Writes() && !c.Status {
				return errors.New("the API server is slow"), nil
			}
			return nil, nil
		}})
		pool := w.pool("default", nil)
		w.until(10*time.Second, "a hash on the pool", func() bool {
			var list karpv1.NodePoolList
			w.list(&list)
			*pool = list.Items[0]
			return pool.Annotations[api.AnnotationNodePoolHash] != ""
		})
		late.Store(true)
		hashes := map[string]string{}
		for edition := range 8 {
			name := fmt.Sprint(edition)
			edit(w, pool, func(p *karpv1.NodePool) { p.Spec.Template.Metadata.Annotations = map[string]string{"edition": name} })
			hashes[name] = fingerprint.NodePool(pool)
			w.scale("web"+name, 1)
			time.Sleep(1500 * time.Millisecond)
		}
		w.until(5*time.Minute, "eight pods running", func() bool { return w.run(8) })
		editions := map[string]bool{}
		for _, c := range w.claims() {
			of := c.Annotations["edition"]
			editions[of] = true
			if got := c.Annotations[api.AnnotationNodePoolHash]; got != hashes[of] {
				t.Errorf("claim %s is of edition %s and carries hash %s, want %s", c.Name, of, got, hashes[of])
			}
		}
		if len(editions) < 4 || editions[""] {
			t.Errorf("the claims are of editions %v: this test shows nothing", editions)
		}
	})
}
