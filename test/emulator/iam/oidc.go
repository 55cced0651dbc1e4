package iam

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator/identity"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

func (c *call) provider() (*identity.OIDCProvider, error) {
	arn := c.Params.String("OpenIDConnectProviderArn")
	p := c.server.Providers[arn]
	if p == nil {
		return nil, wire.Errorf("NoSuchEntity", "OpenIDConnect Provider not found for arn %s", arn).WithStatus(http.StatusNotFound)
	}
	return p, nil
}

func createOIDCProvider(c *call) (any, error) {
	st, issuer := c.server, c.Params.String("Url")
	t, err := world.ReadTags(c.Params.List("Tags"))
	if err != nil {
		return nil, identity.IAMTagError(err)
	}
	name := identity.ProviderName(issuer)
	arn := st.Settings.ProviderARN(name)
	switch {
	case !strings.HasPrefix(issuer, "https://") || name == "" || len(issuer) > 255:
		return nil, wire.Errorf("ValidationError", "Invalid Open ID Connect Provider URL")
	case st.Providers[arn] != nil:
		return nil, wire.Errorf("EntityAlreadyExists", "Provider with url %s already exists.", issuer).WithStatus(http.StatusConflict)
	}
	st.Providers[arn] = &identity.OIDCProvider{
		URL: name, ClientIDs: c.Params.Strings("ClientIDList"), Thumbprints: c.Params.Strings("ThumbprintList"), CreatedAt: c.At, Tags: t,
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
	for _, arn := range slices.Sorted(maps.Keys(c.server.Providers)) {
		answer.Providers = append(answer.Providers, providerXML{arn})
	}
	return answer, nil
}

// deleteOIDCProvider "does not fail or return an error if you call the operation for a provider that does not exist".
func deleteOIDCProvider(c *call) (any, error) {
	delete(c.server.Providers, c.Params.String("OpenIDConnectProviderArn"))
	return nil, nil
}

// changeOIDCProvider serves what changes a part of a provider. Client IDs that are there, or gone, already are no error.
func changeOIDCProvider(c *call) (any, error) {
	p, err := c.provider()
	if err != nil {
		return nil, err
	}
	client := c.Params.String("ClientID")
	switch c.Action {
	case "AddClientIDToOpenIDConnectProvider":
		if !slices.Contains(p.ClientIDs, client) {
			p.ClientIDs = append(p.ClientIDs, client)
		}
	case "RemoveClientIDFromOpenIDConnectProvider":
		p.ClientIDs = slices.DeleteFunc(p.ClientIDs, func(have string) bool { return have == client })
	case "UpdateOpenIDConnectProviderThumbprint":
		p.Thumbprints = c.Params.Strings("ThumbprintList")
	case "UntagOpenIDConnectProvider":
		c.removeTags(&p.Tags)
	case "TagOpenIDConnectProvider":
		return nil, c.addTags(&p.Tags)
	}
	return nil, nil
}
