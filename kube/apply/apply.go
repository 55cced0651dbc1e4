package apply

import (
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/apiclock"
	"github.com/daemok/daemok/kube/translate"
)

// writersMax bounds how many objects are written at once.
const writersMax = 32

// each calls do for every number below n, several at a time, and returns when
// all calls have.
func each(n int, do func(i int)) {
	var writes errgroup.Group
	writes.SetLimit(writersMax)
	for i := range n {
		writes.Go(func() error { do(i); return nil })
	}
	writes.Wait() //nolint:errcheck // each call keeps its own error
}

// indexNodeName is the field index over pods that the live reader must have.
const indexNodeName = "spec.nodeName"

// Applier carries out plans.
type Applier struct {
	Store  client.Client
	Live   client.Reader // reads past every cache
	Ledger *Ledger
	*Holds
	Serves     translate.Generations
	Autoscaler mark.ClusterAutoscaler // whether what users wrote for it counts
	Pools      pools
	Quotas     quotas // nil: there are none
	Orders     orders // notified of claims before they are created; nil: not
	Now        func() time.Time
	Doubt      apiclock.Doubt           // of that time
	NewID      func() string            // five characters for the name of a claim, not used before
	Again      func()                   // asks for a new plan, since one was not carried out as it stands
	View       func() *cluster.Snapshot // what the watches have shown; nil: places of pods that move are not sought

	Namespace string // where this process runs, and ConfigMap daemok-freeze is heard; empty: nowhere
	Pod       string // that this process runs in; empty: none

	moves   sync.WaitGroup
	budgets budgets
	view    view
}

// pools finds a pool as it was last seen.
type pools interface {
	Pool(id cluster.PoolID) (translate.PoolObject, bool)
}

// quotas lists CapacityQuotas as they were last seen.
type quotas interface {
	Now() []cluster.Quota
}

// orders is notified of claims that are about to be created together, and whether pods wait for some of them.
type orders interface {
	Announce(awaited bool, names ...string)
	Dismiss(name string) // it was not created, or that is not known
}
