package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/daemok/daemok/controller"
	"github.com/daemok/daemok/kube/legacy"
)

// olderEvery is how soon it is seen that the cluster has got the kinds of the older API
// generation.
const olderEvery = 10 * time.Second

// olderKinds waits for the kinds of the older API generation where the cluster had none
// when the controller began.
type olderKinds struct {
	served  func() (bool, error)
	log     *slog.Logger
	restart func() // has the controller start anew, in good order
}

// Round looks once. Loops are put together when the program begins, so it begins again.
func (k olderKinds) Round(context.Context) (time.Duration, error) {
	is, err := k.served()
	if err == nil && is {
		k.log.Info("the cluster has the kinds of the older API generation now: starting anew to serve them")
		k.restart()
	}
	return olderEvery, err
}

// awaitOlder is the round that waits for them.
func (p *parts) awaitOlder() controller.Round {
	k := olderKinds{
		served: func() (bool, error) { return legacy.Served(p.manager.GetRESTMapper()) }, log: p.log, restart: func() { p.options.stop(errAnew) },
	}
	return controller.Round{What: "wait for the kinds of the older API generation", Do: k.Round}
}
