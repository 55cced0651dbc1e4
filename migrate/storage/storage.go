// Package storage migrates stored objects from v1beta1 to v1: `daemok migrate crds`. No conversion
// webhook is needed.
//
// It promises that no instance, node or pod is affected: claims keep their name, UID, status,
// finalizers and owners, and nothing is deleted. It exports everything to a folder before it writes
// anything, and before that it refuses what cannot be moved safely, with a list. A move that stopped
// at any point continues when it is run again with the same folder, because what it makes follows from
// the export alone. It starts and stops no controller.
//
// While objects are rewritten, their definitions keep every field and have no rules, so that objects
// of neither version lose anything and the rule that claims do not change is not in the way. What it
// writes has been checked in process against the rules of v1 before.
package storage

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/admit"
	"github.com/daemok/daemok/kube/api/crds"
	"github.com/daemok/daemok/migrate/convert"
)

const (
	older = "v1beta1"
	newer = "v1"
)

// kind is one of those that are moved.
type kind struct {
	schema.GroupKind
	plural string
}

func (k kind) definition() string                        { return k.plural + "." + k.Group }
func (k kind) of(version string) schema.GroupVersionKind { return k.WithVersion(version) }

// The kinds, in the order to write their objects in: what is referred to goes first.
var (
	classes = kind{schema.GroupKind{Group: api.GroupAWS, Kind: "EC2NodeClass"}, "ec2nodeclasses"}
	pools   = kind{schema.GroupKind{Group: api.GroupKarpenter, Kind: "NodePool"}, "nodepools"}
	claims  = kind{schema.GroupKind{Group: api.GroupKarpenter, Kind: "NodeClaim"}, "nodeclaims"}
	kinds   = []kind{classes, pools, claims}
)

// store is the part of a client that is used. Objects are read and written in
// unstructured form, for there are no types of the older version.
type store interface {
	client.Reader
	client.Writer
	client.StatusClient
}

// Refusal says why nothing more is done, by object.
type Refusal struct{ Reasons []string }

func (r *Refusal) Error() string {
	return "this cannot be done safely yet:\n  " + strings.Join(r.Reasons, "\n  ")
}

// refusal is an error where there are reasons.
func refusal(reasons []string) error {
	if len(reasons) == 0 {
		return nil
	}
	return &Refusal{reasons}
}

// Rules are those of v1, and what turns objects to it.
type Rules struct {
	converter   *convert.Converter
	gate        *admit.Gate
	definitions map[string]*apiextensionsv1.CustomResourceDefinition // ours, by name
}

// NewRules compiles the rules, which takes about a second. They may be used again.
func NewRules() (*Rules, error) {
	converter, err := convert.New()
	if err != nil {
		return nil, err
	}
	all, err := crds.All()
	if err != nil {
		return nil, err
	}
	r := &Rules{converter: converter, definitions: map[string]*apiextensionsv1.CustomResourceDefinition{}}
	var ours []*apiextensionsv1.CustomResourceDefinition
	for _, k := range kinds {
		for _, d := range all {
			if d.Name == k.definition() {
				r.definitions[d.Name] = d
				ours = append(ours, d)
			}
		}
	}
	r.gate, err = admit.New(ours)
	return r, err
}

// Mover moves one cluster.
type Mover struct {
	Store  store
	Rules  *Rules
	Folder string // where the export is, or is to be
	Role   string // IAM role of nodes, where a class names neither role nor instance profile
	Lease  string // name of the lease that controllers of these kinds hold; empty: that of Karpenter
	Check  bool   // export and check, and change nothing that stays
	Now    func() time.Time
	// Wait is called before something that was not yet so is examined again.
	Wait   func(context.Context) error
	Report io.Writer // a line for each thing done
}

func (m *Mover) lease() string { return cmp.Or(m.Lease, "karpenter-leader-election") }

func (m *Mover) report(format string, args ...any) {
	_, _ = fmt.Fprintf(m.Report, format+"\n", args...) // a report that is not read must not end a move
}

// Run moves the cluster, or goes on with that. A *Refusal lists what has to be resolved first;
// after any other error the move is to be run again.
func (m *Mover) Run(ctx context.Context) error {
	found, err := m.look(ctx)
	if err != nil {
		return err
	}
	if found.stable() {
		m.report("NodePools, NodeClaims and EC2NodeClasses are stored as %s alone: nothing is left to do", newer)
		return nil
	}
	if err := m.calm(ctx); err != nil {
		return err
	}
	kept, err := m.export(ctx, found)
	if err != nil {
		return err
	}
	if err := m.detach(ctx, found); err != nil {
		return err
	}
	plan, err := m.plan(kept)
	if err == nil {
		_, err = m.unchanged(ctx, found, plan)
	}
	if err == nil && !m.Check {
		return m.move(ctx, found, plan)
	}
	// Objects are as they were: the way they are converted becomes so too.
	if back := m.reattach(ctx, kept); back != nil {
		return back
	}
	return err
}

// move writes what was planned.
func (m *Mover) move(ctx context.Context, found *definitions, plan *plan) error {
	if err := m.open(ctx, found); err != nil {
		return err
	}
	if err := m.rewrite(ctx, found, plan); err != nil {
		return err
	}
	if err := m.reown(ctx); err != nil {
		return err
	}
	if err := m.calm(ctx); err != nil {
		return err
	}
	if err := m.close(ctx, found, plan); err != nil {
		return err
	}
	m.report("done: NodePools, NodeClaims and EC2NodeClasses are stored as %s alone; the export stays in %s", newer, m.Folder)
	return nil
}
