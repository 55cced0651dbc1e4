package scenario

import (
	"fmt"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
)

type (
	request = cluster.ProvisioningRequest
	podSet  = cluster.PodSet
)

// requestLine is the line of a ProvisioningRequest.
var requestLine = line[request]{noun: "request",
	means: "A ProvisioningRequest: capacity for all pods of its sets or for none of them.",
	facts: []fact[request]{
		slashedNames("namespace/name", func(r *request) (_, _ *string) { return &r.Namespace, &r.Name },
			"namespace", "request", "of the ProvisioningRequest"),
		field("created", func(r *request) *time.Time { return &r.CreatedAt }, moment,
			"when it was created: the oldest comes first"),
		flag("launches", func(r *request) *bool { return &r.Launches },
			"what it lacks is launched (best-effort-atomic); if left out, only what is there counts (check-capacity)"),
		flag("provisioned", func(r *request) *bool { return &r.Provisioned }, "it had capacity for all its pods once"),
		field("booked-until", func(r *request) *time.Time { return &r.BookedUntil }, moment,
			"until when that is kept for its pods"),
		field("retry-at", func(r *request) *time.Time { return &r.RetryAt }, moment,
			"before that no plan seeks its capacity"),
		field("not-ready", func(r *request) *string { return &r.NotReady }, text, "why no plan seeks its capacity"),
		several("consumer", byWord, func(r *request) *[]string { return &r.Consumers }, name("pod"),
			"a pod that consumes it and waits; there may be several"),
		several("claim", byWord, func(r *request) *[]string { return &r.Claims }, name("claim"),
			"a NodeClaim that was launched for it; there may be several"),
	},
	below: []part[request]{&list[request, podSet]{at: func(r *request) *[]podSet { return &r.Sets }, line: podSetLine}},
	ends: func(r *request) error {
		slices.Sort(r.Consumers)
		slices.Sort(r.Claims)
		for _, set := range r.Sets {
			if set.Shape == nil && r.NotReady == "" {
				return fmt.Errorf("%s/%s: shape= of a set is missing", r.Namespace, r.Name)
			}
		}
		return nil
	}}

var podSetLine = line[podSet]{noun: "set", means: "Pods of a ProvisioningRequest with one template.",
	facts: []fact[podSet]{
		reference(shapes, func(p *podSet) **cluster.Shape { return &p.Shape }, "their shape"),
		field("pods", func(p *podSet) *int64 { return &p.Pods }, number, "how many"),
		field("come", func(p *podSet) *int64 { return &p.Come }, number, "how many of them were created"),
	}}
