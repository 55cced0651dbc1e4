// Package doctor finds what is wrong with a cluster and its AWS account, before and after the
// installation: `daemok doctor`.
//
// It promises to change nothing, to name for every problem the object and what to do, and to go on
// where something cannot be checked. It decides nothing about pods and nodes.
package doctor

import (
	"context"
	"fmt"
	"io"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/audit"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/kube/installation"
	"github.com/daemok/daemok/kube/translate"
)

// Severity says how much a finding matters.
type Severity string

// The severities, from the least.
const (
	OK      Severity = "ok"
	Unknown Severity = "unknown" // it could not be checked
	Warning Severity = "warning" // the controller works, less well or not for long
	Error   Severity = "error"   // something will not work
)

// Finding is what was found out about one thing.
type Finding struct {
	Check    string   `json:"check"` // what was checked, such as subnets
	Severity Severity `json:"severity"`
	Object   string   `json:"object,omitempty"` // such as EC2NodeClass/default
	Message  string   `json:"message"`          // one sentence
	WayOut   string   `json:"wayOut,omitempty"` // what to do
}

// Class is a node class, with what AWS has for it.
type Class struct {
	Name    string // with its Kind: EC2NodeClass/default
	Spec    nodeclass.Spec
	Subnets []nodeclass.Subnet
	Groups  []nodeclass.Group
	Images  []nodeclass.Image

	// Why what it selects could not be looked up; nil: it was.
	NoSubnets, NoGroups, NoImages error
}

// Account is what AWS is asked.
type Account interface {
	Cluster(ctx context.Context, name string) (audit.Cluster, error)
	AccessEntry(ctx context.Context, cluster, role string) (kind string, err error)
	PodIdentity(ctx context.Context, cluster, namespace, account string) (role string, err error)
	Role(ctx context.Context, name string) (trust string, found bool, err error)
	Provider(ctx context.Context, arn string) (audiences []string, found bool, err error)
	RolesOfProfile(ctx context.Context, name string) ([]string, error)
	Queue(ctx context.Context, name string) (q audit.Queue, found bool, err error)
	Sources(ctx context.Context, queueARN string) (patterns []string, err error)
}

// Patient is the cluster that is examined.
type Patient struct {
	Store       client.Reader
	Definitions []*apiextensionsv1.CustomResourceDefinition               // of this release
	Version     func(ctx context.Context) (string, error)                 // of the API server: "1.36"
	Classes     func(ctx context.Context) ([]Class, error)                // with what AWS has for them
	Pools       func(ctx context.Context) ([]translate.PoolObject, error) // of all API versions
	Account     Account                                                   // nil: AWS cannot be reached
	Unreached   error                                                     // why not
	RoleARN     func(name string) string                                  // of a role in the account
	Name        string                                                    // in EKS
	Namespace   string                                                    // of the controller
	Rights      func(ctx context.Context) ([]Finding, error)              // which the controller's role lacks
	Commitments cloud.Commitments                                         // of the account; nil: they were not read
	May         Reviewer                                                  // nil: it is not asked

	install *installation.Installation // once it was searched for
}

// Reviewer reports whether a user may do something to all resources of one Kind of the core group, in
// all namespaces.
type Reviewer func(ctx context.Context, user, verb, resource string) (bool, error)

// check checks one thing.
type check struct {
	name string
	look func(ctx context.Context, p *Patient) ([]Finding, error)
	aws  bool // it asks AWS
}

// checks are all of them, in the order in which they are reported.
func checks() []check {
	return []check{
		{"kubernetes", kubernetesVersion, false},
		{"definitions", definitionsOf, false},
		{"controller", controllerRuns, false},
		{"clock", clock, false},
		{"autoscalers", otherAutoscalers, false},
		{"steering", steered, false},
		{"commitments", committed, false},
		{"dns", dns, false},
		{"cni", cni, false},
		{"eks", eksCluster, true},
		{"credentials", credentials, true},
		{"node classes", nodeClasses, true},
		{"node roles", nodeRoles, true},
		{"spot", spotRole, true},
		{"interruption queue", queue, true},
		{"rights", rightsOfController, true},
	}
}

// Examine checks everything, and says of each check at least one thing. Where AWS cannot be asked, one finding says
// so of all checks that would have asked it.
func Examine(ctx context.Context, p *Patient) []Finding {
	var all []Finding
	var unasked []string
	for _, c := range checks() {
		if c.aws && p.Account == nil {
			unasked = append(unasked, c.name)
			continue
		}
		found, err := c.look(ctx, p)
		if err != nil {
			found = append(found, Finding{Severity: Unknown, Message: "it could not be checked: " + err.Error()})
		}
		if len(found) == 0 {
			found = []Finding{{Severity: OK, Message: "nothing is wrong"}}
		}
		for i := range found {
			found[i].Check = c.name
		}
		all = append(all, found...)
	}
	if len(unasked) > 0 {
		all = append(all, Finding{Check: "aws", Severity: Unknown, Message: fmt.Sprintf("AWS could not be asked about %s: %v", strings.Join(unasked, ", "), p.Unreached)})
	}
	return all
}

// Unreachable is the only finding where the API server does not answer, or does not know the user.
func Unreachable(err error) Finding {
	return Finding{Check: "kubernetes", Severity: Error, Message: "the API server cannot be asked: " + err.Error(),
		WayOut: "choose another cluster or user with --context, --kubeconfig or KUBECONFIG, or renew the credentials (aws eks update-kubeconfig)"}
}

// Worst is the greatest severity among findings; OK where there is none.
func Worst(findings []Finding) Severity {
	order := []Severity{OK, Unknown, Warning, Error}
	worst := 0
	for _, f := range findings {
		for rank, s := range order {
			if f.Severity == s {
				worst = max(worst, rank)
			}
		}
	}
	return order[worst]
}

// Write prints one line for each finding, and below it what to do: once where several on end
// have the same way out.
func Write(w io.Writer, findings []Finding) error {
	for i, f := range findings {
		message := f.Message
		if f.Object != "" {
			message = f.Object + ": " + message
		}
		if _, err := fmt.Fprintf(w, "%-8s %-19s %s\n", f.Severity, f.Check, message); err != nil {
			return err
		}
		if f.WayOut == "" || i+1 < len(findings) && findings[i+1].WayOut == f.WayOut {
			continue
		}
		for line := range strings.SplitSeq(f.WayOut, "\n") {
			if _, err := fmt.Fprintf(w, "%28s %s\n", "->", line); err != nil {
				return err
			}
		}
	}
	return nil
}

// trouble is a finding of one object.
func trouble(s Severity, object, message, wayOut string) Finding {
	return Finding{Severity: s, Object: object, Message: message, WayOut: wayOut}
}

// fine is a finding of what is in order.
func fine(format string, values ...any) Finding {
	return Finding{Severity: OK, Message: fmt.Sprintf(format, values...)}
}
