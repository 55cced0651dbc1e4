// Package deploy holds the manifests that run the controller in a cluster, and the permissions that it
// needs at the API server.
package deploy

import _ "embed"

// RBAC is the manifest of the controller's service account and rights.
//
//go:embed rbac.yaml
var RBAC []byte

// SurgeRBAC is the manifest of optional rights: to scale workloads that ask for a
// second replica before their only pod is evicted.
//
//go:embed rbac-surge.yaml
var SurgeRBAC []byte

// NominateRBAC is the manifest of optional rights: to nominate nodes for pods.
//
//go:embed rbac-nominate.yaml
var NominateRBAC []byte

// ShadowRBAC is the manifest of the service account of shadow mode, and of its rights to read.
//
//go:embed rbac-shadow.yaml
var ShadowRBAC []byte

// WebRBAC is the manifest of optional rights: to review the tokens of those who look at the pages in a browser.
//
//go:embed rbac-web.yaml
var WebRBAC []byte

// UsageRBAC is the manifest of the optional right to list what nodes and pods use, for pages that show it.
//
//go:embed rbac-usage.yaml
var UsageRBAC []byte

// SteeringRBAC is the manifest of the right to patch pods, so that those on nodes that are to empty get a deletion cost,
// and of the admission policy that limits it to that.
//
//go:embed rbac-steering.yaml
var SteeringRBAC []byte
