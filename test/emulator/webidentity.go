package emulator

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/wire"
)

// tokenLeeway is how far in the future a token may be dated; a pick of ours.
const tokenLeeway = 5 * time.Minute

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
	st := c.state()
	sent, p, err := c.webIdentity()
	if err != nil {
		return nil, err
	}
	arn := st.Account.providerARN(p.URL)
	audiences := slices.DeleteFunc(slices.Clone(sent.Audience), func(of string) bool { return !slices.Contains(p.ClientIDs, of) })
	context := iampolicy.Context{}
	context.Set(p.URL+":aud", audiences...)
	context.Set(p.URL+":sub", sent.Subject)
	context.Set("aws:FederatedProvider", arn)
	context.Set("sts:RoleSessionName", a.session)
	r, decision := st.roleByARN(a.arn), iampolicy.ImplicitDeny
	if r != nil {
		if decision, err = st.trusts(r, iampolicy.Caller{Sort: iampolicy.PrincipalFederated, Names: []string{arn}}, context, "sts:AssumeRoleWithWebIdentity"); err != nil {
			return nil, err
		}
	}
	switch {
	case decision != iampolicy.Allowed:
		return nil, wire.Errorf("AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity").WithStatus(http.StatusForbidden)
	case a.length > r.sessionMost():
		return nil, tooLong()
	}
	out := c.server.handOut(r, a.session, a.length, nil)
	return struct {
		Credentials credentialsXML `xml:"Credentials"`
		Subject     string         `xml:"SubjectFromWebIdentityToken"`
		User        assumedXML     `xml:"AssumedRoleUser"`
		Provider    string         `xml:"Provider"`
		Audience    string         `xml:"Audience"`
	}{out.asXML(), sent.Subject, out.user(st.Account), arn, audiences[0]}, nil
}

// webIdentity is what the token of a call says, and the provider of the account that vouches for it.
func (c *call) webIdentity() (claims, *oidcProvider, error) {
	t, err := readToken(c.params.String("WebIdentityToken"))
	if err != nil {
		return claims{}, nil, invalidIdentity(noToken)
	}
	st, sent := c.state(), t.claims
	p := st.Providers[st.Account.providerARN(providerName(sent.Issuer))]
	if p == nil || "https://"+p.URL != sent.Issuer {
		return claims{}, nil, invalidIdentity("No OpenIDConnect provider found in your account for %s", sent.Issuer)
	}
	now := c.server.clock.callers()
	switch err := t.verify(st.Account.Issuer, c.server.issuer); {
	case errors.Is(err, errNoKey):
		return claims{}, nil, invalidIdentity(noKey)
	case err != nil, sent.Expiry == nil, sent.Subject == "", later(sent.IssuedAt, now), later(sent.NotBefore, now):
		return claims{}, nil, invalidIdentity(invalidToken)
	case !now.Before(sent.Expiry.Time()):
		return claims{}, nil, wire.Errorf("ExpiredTokenException", "Token expired: current date/time %d must be before the expiration date/time %d", now.Unix(), *sent.Expiry)
	case !slices.ContainsFunc(p.ClientIDs, sent.Audience.Contains):
		return claims{}, nil, invalidIdentity("Incorrect token audience")
	}
	return sent, p, nil
}

// later reports whether a date of a token, which need not be there, is not yet reached.
func later(date *jwt.NumericDate, now time.Time) bool {
	return date != nil && date.Time().After(now.Add(tokenLeeway))
}
