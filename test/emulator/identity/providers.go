package identity

import (
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator/world"
)

// stsAudience is what tokens for STS are for.
const stsAudience = "sts.amazonaws.com"

// OIDCProvider is an OIDC issuer that IAM knows.
type OIDCProvider struct {
	URL         string // without its scheme, https
	ClientIDs   []string
	Thumbprints []string
	CreatedAt   time.Time
	Tags        world.Tags
}

// ProviderName is an issuer as IAM names it: without its scheme.
func ProviderName(issuer string) string { return strings.TrimPrefix(issuer, "https://") }

// newProviders is the provider that the guides make: of the cluster.
func newProviders(a world.Account, now time.Time) map[string]*OIDCProvider {
	name := ProviderName(a.Issuer)
	return map[string]*OIDCProvider{a.ProviderARN(name): {
		URL: name, ClientIDs: []string{stsAudience}, Thumbprints: []string{"9e99a48a9960b14926bb7f3b02e22da2b0ab7280"}, CreatedAt: now,
		Tags: world.TagsFrom(map[string]string{"alpha.eksctl.io/cluster-name": a.ClusterName}),
	}}
}
