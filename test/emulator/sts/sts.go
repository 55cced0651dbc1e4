package sts

import (
	"net/http"
	"regexp"
	"strings"
	"time"

	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/identity"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

func getCallerIdentity(c *call) (any, error) {
	a, who := c.server.Settings, c.server.CallerOf(c.Who.Key)
	id := a.UniqueID("AROA", who.Role)
	if r := c.server.Roles[who.Role]; r != nil {
		id = r.ID
	}
	return struct {
		ARN     string `xml:"Arn"`
		UserID  string `xml:"UserId"`
		Account string `xml:"Account"`
	}{ARN: who.ARN(a), UserID: id + ":" + who.Session, Account: a.ID}, nil
}

// assumption is which role somebody asks for, and for how long.
type assumption struct {
	arn, session string
	length       time.Duration
}

var sessionName = regexp.MustCompile(`^[\w+=,.@-]*$`)

func (c *call) assumption() (assumption, error) {
	a := assumption{arn: c.Params.String("RoleArn"), session: c.Params.String("RoleSessionName")}
	invalid := func(value, field, constraint string) error {
		return wire.Errorf("ValidationError", "1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: %s", value, field, constraint)
	}
	seconds, err := c.Params.Int("DurationSeconds", int(identity.SessionDefault/time.Second))
	if err != nil {
		return a, err
	}
	a.length = time.Duration(seconds) * time.Second
	switch {
	case len(a.arn) < 20:
		return a, invalid(a.arn, "roleArn", "Member must have length greater than or equal to 20")
	case !strings.HasPrefix(a.arn, "arn:") || !strings.Contains(a.arn, ":role/"):
		return a, wire.Errorf("ValidationError", "%s is invalid", a.arn)
	case len(a.session) < 2:
		return a, invalid(a.session, "roleSessionName", "Member must have length greater than or equal to 2")
	case len(a.session) > 64:
		return a, invalid(a.session, "roleSessionName", "Member must have length less than or equal to 64")
	case !sessionName.MatchString(a.session):
		return a, invalid(a.session, "roleSessionName", `Member must satisfy regular expression pattern: [\w+=,.@-]*`)
	case a.length < identity.SessionLeast:
		return a, invalid(c.Params.String("DurationSeconds"), "durationSeconds", "Member must have value greater than or equal to 900")
	case a.length > identity.SessionMost:
		return a, invalid(c.Params.String("DurationSeconds"), "durationSeconds", "Member must have value less than or equal to 43200")
	}
	return a, nil
}

func tooLong() error {
	return wire.Errorf("ValidationError", "The requested DurationSeconds exceeds the MaxSessionDuration set for this role.")
}

// assumeRole hands out a role to a caller of the account whom the role's trust policy names, or to one
// of an account that it names, if the caller's own policies allow it too.
func assumeRole(c *call) (any, error) {
	a, err := c.assumption()
	if err != nil {
		return nil, err
	}
	given, err := world.ReadTags(c.Params.List("Tags"))
	if err != nil {
		return nil, identity.IAMTagError(err)
	}
	st, who := c.server, c.server.CallerOf(c.Who.Key)
	r := st.RoleByARN(a.arn)
	actions := []string{"sts:AssumeRole"}
	if len(given) > 0 {
		actions = append(actions, "sts:TagSession")
	}
	for _, action := range actions {
		may := false
		if r != nil {
			if may, err = c.mayAssume(who, r, action, a, given); err != nil {
				return nil, err
			}
		}
		if !may {
			return nil, wire.Errorf("AccessDenied", "User: %s is not authorized to perform: %s on resource: %s", who.ARN(st.Settings), action, a.arn).WithStatus(http.StatusForbidden)
		}
	}
	switch chained := st.Sessions[c.Who.Key] != nil; {
	case chained && a.length > identity.SessionDefault:
		return nil, wire.Errorf("ValidationError", "The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining")
	case a.length > r.SessionMost():
		return nil, tooLong()
	}
	out := c.server.HandOut(r, a.session, a.length, given.AsMap())
	return struct {
		Credentials identity.CredentialsXML `xml:"Credentials"`
		User        identity.AssumedXML     `xml:"AssumedRoleUser"`
	}{out.AsXML(), out.User(st.Settings)}, nil
}

// mayAssume decides by the trust policy of the role and by the policies of the caller, of which "you can do either"
// where both are of one account and the trust names the caller itself.
func (c *call) mayAssume(who identity.Caller, r *identity.Role, action string, a assumption, given world.Tags) (bool, error) {
	account := c.server.Settings
	self := []string{who.ARN(account)}
	if own := c.server.Roles[who.Role]; own != nil {
		self = append(self, c.server.RoleARN(own))
	}
	context := func() iampolicy.Context {
		n := identity.Giving(identity.Need(action, c.server.RoleARN(r)), given)
		n.Context.Set("aws:PrincipalArn", self[len(self)-1])
		n.Context.Set("aws:PrincipalAccount", account.ID)
		n.Context.Set("aws:RequestedRegion", c.Who.Region)
		n.Context.Set("sts:RoleSessionName", a.session)
		if c.Params.Has("ExternalId") {
			n.Context.Set("sts:ExternalId", c.Params.String("ExternalId"))
		}
		return n.Context
	}
	named, err := c.server.Trusts(r, iampolicy.Caller{Sort: iampolicy.PrincipalAWS, Names: self}, context(), action)
	if err != nil {
		return false, err
	}
	all := append([]string{account.ID, account.ARN("iam", "", "root")}, self...)
	trusted, err := c.server.Trusts(r, iampolicy.Caller{Sort: iampolicy.PrincipalAWS, Names: all}, context(), action)
	if err != nil || trusted != iampolicy.Allowed || !who.Decided {
		return trusted == iampolicy.Allowed, err
	}
	documents, err := c.server.DocumentsOf(who.Role)
	if err != nil {
		return false, err
	}
	own, _, err := iampolicy.Decide(documents, iampolicy.Call{Action: action, Resource: c.server.RoleARN(r), Context: context()})
	return err == nil && (own == iampolicy.Allowed || own == iampolicy.ImplicitDeny && named == iampolicy.Allowed), err
}
