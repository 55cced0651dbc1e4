package sts

import (
	"errors"
	"net/http"
	"slices"

	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/identity"
	"github.com/daemok/daemok/test/emulator/wire"
)

const (
	noToken      = "The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)"
	noKey        = "Couldn't retrieve verification key from your identity provider,  please reference AssumeRoleWithWebIdentity documentation for requirements"
	invalidToken = "The web identity token that was passed could not be validated by AWS. Get a new identity token from the identity provider and then retry the request."
)

func invalidIdentity(format string, args ...any) *wire.Error {
	return wire.Errorf("InvalidIdentityToken", format, args...)
}

// assumeRoleWithWebIdentity hands out a role for a token of an OIDC provider of the account (IRSA).
func assumeRoleWithWebIdentity(c *call) (any, error) {
	a, err := c.assumption()
	if err != nil {
		return nil, err
	}
	st := c.server
	sent, p, err := c.webIdentity()
	if err != nil {
		return nil, err
	}
	arn := st.Settings.ProviderARN(p.URL)
	audiences := slices.DeleteFunc(slices.Clone(sent.Audience), func(of string) bool { return !slices.Contains(p.ClientIDs, of) })
	context := iampolicy.Context{}
	context.Set(p.URL+":aud", audiences...)
	context.Set(p.URL+":sub", sent.Subject)
	context.Set("aws:FederatedProvider", arn)
	context.Set("sts:RoleSessionName", a.session)
	r, decision := st.RoleByARN(a.arn), iampolicy.ImplicitDeny
	if r != nil {
		if decision, err = st.Trusts(r, iampolicy.Caller{Sort: iampolicy.PrincipalFederated, Names: []string{arn}}, context, "sts:AssumeRoleWithWebIdentity"); err != nil {
			return nil, err
		}
	}
	switch {
	case decision != iampolicy.Allowed:
		return nil, wire.Errorf("AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity").WithStatus(http.StatusForbidden)
	case a.length > r.SessionMost():
		return nil, tooLong()
	}
	out := c.server.HandOut(r, a.session, a.length, nil)
	return struct {
		Credentials identity.CredentialsXML `xml:"Credentials"`
		Subject     string                  `xml:"SubjectFromWebIdentityToken"`
		User        identity.AssumedXML     `xml:"AssumedRoleUser"`
		Provider    string                  `xml:"Provider"`
		Audience    string                  `xml:"Audience"`
	}{out.AsXML(), sent.Subject, out.User(st.Settings), arn, audiences[0]}, nil
}

// webIdentity is what the token of a call says, and the provider of the account that vouches for it.
func (c *call) webIdentity() (identity.Claims, *identity.OIDCProvider, error) {
	t, err := identity.ReadToken(c.Params.String("WebIdentityToken"))
	if err != nil {
		return identity.Claims{}, nil, invalidIdentity(noToken)
	}
	st, sent := c.server, t.Claims
	p := st.Providers[st.Settings.ProviderARN(identity.ProviderName(sent.Issuer))]
	if p == nil || "https://"+p.URL != sent.Issuer {
		return identity.Claims{}, nil, invalidIdentity("No OpenIDConnect provider found in your account for %s", sent.Issuer)
	}
	now := c.server.Clock.Callers()
	switch err := t.Verify(st.Settings.Issuer, c.server.IssuerKeys); {
	case errors.Is(err, identity.ErrNoKey):
		return identity.Claims{}, nil, invalidIdentity(noKey)
	case err != nil, sent.Expiry == nil, sent.Subject == "", identity.Later(sent.IssuedAt, now), identity.Later(sent.NotBefore, now):
		return identity.Claims{}, nil, invalidIdentity(invalidToken)
	case !now.Before(sent.Expiry.Time()):
		return identity.Claims{}, nil, wire.Errorf("ExpiredTokenException", "Token expired: current date/time %d must be before the expiration date/time %d", now.Unix(), *sent.Expiry)
	case !slices.ContainsFunc(p.ClientIDs, sent.Audience.Contains):
		return identity.Claims{}, nil, invalidIdentity("Incorrect token audience")
	}
	return sent, p, nil
}
