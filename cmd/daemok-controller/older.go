package main

import (
	"context"
	"log/slog"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/daemok/daemok/controller"
	"github.com/daemok/daemok/kube/translate/provisioner"
)

// olderEvery is how soon it is seen that the cluster has got the kinds of the older API
// generation, or has lost them.
const olderEvery = 10 * time.Second

// olderKinds waits until the cluster has the kinds of the older API generation where it had
// none when the controller began, or has none any more where it had.
type olderKinds struct {
	had     bool
	served  func() (bool, error)
	log     *slog.Logger
	restart func() // has the controller restart gracefully
}

// Round checks once. Loops are put together when the program begins, so it begins again.
func (k olderKinds) Round(context.Context) (time.Duration, error) {
	is, err := k.served()
	if err == nil && is != k.had {
		k.log.Info("the cluster began or ceased to serve v1alpha5 objects: restarting", "served", is)
		k.restart()
	}
	return olderEvery, err
}

// followOlder is the round that waits for them to come or to go. Each check asks the API server:
// the manager's own mapping keeps kinds that are gone.
func (p *parts) followOlder() controller.Round {
	served := func() (bool, error) {
		kinds, err := apiutil.NewDynamicRESTMapper(p.manager.GetConfig(), p.manager.GetHTTPClient())
		if err != nil {
			return false, err
		}
		return provisioner.Served(kinds)
	}
	k := olderKinds{had: p.older, served: served, log: p.log, restart: func() { p.options.stop(errRestart) }}
	return controller.Round{What: "see whether the cluster serves v1alpha5 objects", Do: k.Round}
}
