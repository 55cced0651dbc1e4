package explaincmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/ui/card"
	"github.com/daemok/daemok/ui/text"
	"github.com/daemok/daemok/ui/view"
)

// owners are the kinds that own pods, as users type them and as they are spelled.
var owners = map[string]string{
	"deployment": "Deployment", "deployments": "Deployment", "deploy": "Deployment",
	"statefulset": "StatefulSet", "statefulsets": "StatefulSet", "sts": "StatefulSet",
	"daemonset": "DaemonSet", "daemonsets": "DaemonSet", "ds": "DaemonSet",
	"replicaset": "ReplicaSet", "replicasets": "ReplicaSet", "rs": "ReplicaSet",
	"job": "Job", "jobs": "Job",
}

// ownerKind is the kind of an owner of pods that a word names; empty: it names none.
func ownerKind(word string) string { return owners[strings.ToLower(word)] }

// cardOf is the card of an object, in all forms.
func cardOf(ctx context.Context, at *inspect.Target, store client.Client, q question) (output.Answer, error) {
	in, err := inspect.Through(ctx, at, store)
	if err != nil {
		return output.Answer{}, err
	}
	kept := &record.Record{}
	kept.Recall(in.Statements)
	var c view.Card
	var object output.Object
	switch {
	case q.owner != "":
		kind, name, _ := strings.Cut(q.owner, "/")
		object = output.ObjectOf(kind, name)
		c, err = view.ExplainOwner(in, q.about.Name, q.owner)
	case q.instance != "":
		if q.about, err = ofInstance(ctx, store, kept, q.instance); err != nil {
			return output.Answer{}, err
		}
		fallthrough
	default:
		object = output.ObjectOf(kindOf[q.about.Kind], q.about.Name)
		c, err = view.Explain(in, q.about, kept.About(q.about))
	}
	if errors.Is(err, view.ErrUnknown) && q.owner == "" && q.about.Kind.Recorded() {
		_, _, err = explain(ctx, store, at.SystemNamespace(), q) // which says what is known instead
	} else if err != nil && q.owner != "" {
		err = fmt.Errorf("%w; -n names another namespace", err)
	}
	return output.Answer{
		Value: c, Rows: []output.Row{{Object: object, Value: c}},
		Text: func(out io.Writer) error {
			p := text.New(out)
			for _, t := range in.Troubles {
				p.Line(text.Say(text.Warn, "%s", t))
			}
			return card.Write(p, &c, in.Snapshot.Now, q.all)
		},
	}, err
}
