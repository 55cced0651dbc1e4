package emulator

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
)

// stsAudience is what tokens for STS are for.
const stsAudience = "sts.amazonaws.com"

// oidcProvider is an OIDC issuer that IAM knows.
type oidcProvider struct {
	URL         string // without its scheme, https
	ClientIDs   []string
	Thumbprints []string
	CreatedAt   time.Time
	Tags        tags
}

// providerName is an issuer as IAM names it: without its scheme.
func providerName(issuer string) string { return strings.TrimPrefix(issuer, "https://") }

func (a Account) providerARN(name string) string { return a.arn("iam", "", "oidc-provider/"+name) }

// newProviders is the provider that the guides make: of the cluster.
func newProviders(a Account, now time.Time) map[string]*oidcProvider {
	name := providerName(a.Issuer)
	return map[string]*oidcProvider{a.providerARN(name): {
		URL: name, ClientIDs: []string{stsAudience}, Thumbprints: []string{"9e99a48a9960b14926bb7f3b02e22da2b0ab7280"}, CreatedAt: now,
		Tags: tagsFrom(map[string]string{"alpha.eksctl.io/cluster-name": a.ClusterName}),
	}}
}

func (c *call) provider() (*oidcProvider, error) {
	arn := c.params.String("OpenIDConnectProviderArn")
	p := c.state().Providers[arn]
	if p == nil {
		return nil, wire.Errorf("NoSuchEntity", "OpenIDConnect Provider not found for arn %s", arn).WithStatus(http.StatusNotFound)
	}
	return p, nil
}

func createOIDCProvider(c *call) (any, error) {
	st, issuer := c.state(), c.params.String("Url")
	t, err := readTags(c.params.List("Tags"))
	if err != nil {
		return nil, iamTagError(err)
	}
	name := providerName(issuer)
	arn := st.Account.providerARN(name)
	switch {
	case !strings.HasPrefix(issuer, "https://") || name == "" || len(issuer) > 255:
		return nil, wire.Errorf("ValidationError", "Invalid Open ID Connect Provider URL")
	case st.Providers[arn] != nil:
		return nil, wire.Errorf("EntityAlreadyExists", "Provider with url %s already exists.", issuer).WithStatus(http.StatusConflict)
	}
	st.Providers[arn] = &oidcProvider{
		URL: name, ClientIDs: c.params.Strings("ClientIDList"), Thumbprints: c.params.Strings("ThumbprintList"), CreatedAt: c.now, Tags: t,
	}
	return struct {
		ARN  string   `xml:"OpenIDConnectProviderArn"`
		Tags []iamTag `xml:"Tags>member"`
	}{arn, iamTags(t)}, nil
}

func getOIDCProvider(c *call) (any, error) {
	p, err := c.provider()
	if err != nil {
		return nil, err
	}
	return struct {
		URL         string    `xml:"Url"`
		ClientIDs   []string  `xml:"ClientIDList>member"`
		Thumbprints []string  `xml:"ThumbprintList>member"`
		CreatedAt   time.Time `xml:"CreateDate"`
		Tags        []iamTag  `xml:"Tags>member"`
	}{p.URL, p.ClientIDs, p.Thumbprints, p.CreatedAt, iamTags(p.Tags)}, nil
}

func listOIDCProviders(c *call) (any, error) {
	type providerXML struct {
		ARN string `xml:"Arn"`
	}
	var answer struct {
		Providers []providerXML `xml:"OpenIDConnectProviderList>member"`
	}
	for _, arn := range slices.Sorted(maps.Keys(c.state().Providers)) {
		answer.Providers = append(answer.Providers, providerXML{arn})
	}
	return answer, nil
}

// deleteOIDCProvider "does not fail or return an error if you call the operation for a provider that does not exist".
func deleteOIDCProvider(c *call) (any, error) {
	delete(c.state().Providers, c.params.String("OpenIDConnectProviderArn"))
	return nil, nil
}

// changeOIDCProvider serves what changes a part of a provider. Client IDs that are there, or gone, already are no error.
func changeOIDCProvider(c *call) (any, error) {
	p, err := c.provider()
	if err != nil {
		return nil, err
	}
	client := c.params.String("ClientID")
	switch c.action {
	case "AddClientIDToOpenIDConnectProvider":
		if !slices.Contains(p.ClientIDs, client) {
			p.ClientIDs = append(p.ClientIDs, client)
		}
	case "RemoveClientIDFromOpenIDConnectProvider":
		p.ClientIDs = slices.DeleteFunc(p.ClientIDs, func(have string) bool { return have == client })
	case "UpdateOpenIDConnectProviderThumbprint":
		p.Thumbprints = c.params.Strings("ThumbprintList")
	case "UntagOpenIDConnectProvider":
		c.removeTags(&p.Tags)
	case "TagOpenIDConnectProvider":
		return nil, c.addTags(&p.Tags)
	}
	return nil, nil
}
