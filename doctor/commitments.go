package doctor

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/internal/gates"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/translate"
)

// committed checks whether plans can use the commitments of the account, where they are to, and those of the ConfigMap.
// What the controller's role may read is for the check of its rights.
func committed(ctx context.Context, p *Patient) ([]Finding, error) {
	found, err := p.find(ctx)
	if err != nil || found.IsKarpenter() {
		return nil, err
	}
	account, _ := strconv.ParseBool(found.Setting("ACCOUNT_COMMITMENTS"))
	off := false
	if switches, err := gates.Core(found.Setting("FEATURE_GATES")); err == nil {
		off = !switches.On(gates.Commitments)
	}
	listed, err := listsCommitments(ctx, p, account && !off, off)
	switch {
	case err != nil:
		return nil, err
	case account && off:
		listed = append(listed, trouble(Warning, "", "the commitments of the account are not read, since the feature "+
			"gate Commitments is off", wayToGate))
	case account:
		listed = append(listed, ofAccount(p)...)
	case len(listed) == 0:
		listed = []Finding{fine("none are listed, and those of the account are not read")}
	}
	return listed, nil
}

const wayToGate = "remove Commitments=false from settings.featureGates"

// listsCommitments is what is said of the ConfigMap; nothing where there is none.
func listsCommitments(ctx context.Context, p *Patient, account, off bool) ([]Finding, error) {
	c, key := &corev1.ConfigMap{}, client.ObjectKey{Namespace: p.Namespace, Name: api.ConfigMapCommitments}
	switch err := p.Store.Get(ctx, key, c); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read ConfigMap %s: %w", key, err)
	}
	object := "ConfigMap/" + key.String()
	list, err := translate.ReadCommitments(c, account)
	switch {
	case err != nil:
		said := strings.TrimPrefix(err.Error(), "ConfigMap "+key.String()+": ")
		return []Finding{trouble(Warning, object, said, "correct it: see docs/tasks/commitments.md")}, nil
	case off:
		return []Finding{trouble(Warning, object, "it has no effect, since the feature gate Commitments is off",
			wayToGate)}, nil
	}
	return []Finding{{Severity: OK, Object: object, Message: "it lists " + counted(list)}}, nil
}

// ofAccount is what is said of the commitments of the account, which the user reads.
func ofAccount(p *Patient) (out []Finding) {
	if p.Commitments == nil {
		said := "those of the account were not read"
		if p.Unreached != nil {
			said += ": " + p.Unreached.Error()
		}
		return []Finding{{Severity: Unknown, Message: said}}
	}
	read := p.Commitments.Commitments()
	for i := range read.Unread {
		u := &read.Unread[i]
		f := Finding{Severity: Unknown, Message: "not read of the account: " + u.Text("your own user or role")}
		if u.Lasting && u.Rights == "" { // the controller cannot read them either
			f.Severity = Warning
		}
		out = append(out, f)
	}
	return append(out, fine("the account has %s", counted(&read.Commitments)))
}

func counted(c *commitment.Commitments) string {
	return brief.Counted(len(c.Reserved), "entry", "entries") + " of Reserved Instances and " +
		brief.Counted(len(c.Plans), "Savings Plan")
}
