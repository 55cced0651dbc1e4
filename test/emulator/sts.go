package emulator

import (
	"net/http"
	"regexp"
	"strings"
	"time"

	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/wire"
)

// Limits of STS on how long credentials of a role hold.
const (
	sessionLeast   = 15 * time.Minute
	sessionMost    = 12 * time.Hour
	sessionDefault = time.Hour // and the most that a role allows of itself, and for whom has a role already
)

func getCallerIdentity(c *call) (any, error) {
	a, who := c.state().Account, c.server.callerOf(c.who.key)
	id := a.uniqueID("AROA", who.role)
	if r := c.state().Roles[who.role]; r != nil {
		id = r.ID
	}
	return struct {
		ARN     string `xml:"Arn"`
		UserID  string `xml:"UserId"`
		Account string `xml:"Account"`
	}{ARN: who.arn(a), UserID: id + ":" + who.session, Account: a.ID}, nil
}

type credentialsXML struct {
	Key     string    `xml:"AccessKeyId"`
	Secret  string    `xml:"SecretAccessKey"`
	Token   string    `xml:"SessionToken"`
	Expires time.Time `xml:"Expiration"`
}

func (c credentials) asXML() credentialsXML {
	return credentialsXML{Key: c.key, Secret: c.secret, Token: c.Token, Expires: c.ExpiresAt}
}

type assumedXML struct {
	ARN string `xml:"Arn"`
	ID  string `xml:"AssumedRoleId"`
}

func (c credentials) user(a Account) assumedXML {
	return assumedXML{ARN: caller{role: c.Role, session: c.Name}.arn(a), ID: c.RoleID + ":" + c.Name}
}

// assumption is which role somebody asks for, and for how long.
type assumption struct {
	arn, session string
	length       time.Duration
}

var sessionName = regexp.MustCompile(`^[\w+=,.@-]*$`)

func (c *call) assumption() (assumption, error) {
	a := assumption{arn: c.params.String("RoleArn"), session: c.params.String("RoleSessionName")}
	invalid := func(value, field, constraint string) error {
		return wire.Errorf("ValidationError", "1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: %s", value, field, constraint)
	}
	seconds, err := c.params.Int("DurationSeconds", int(sessionDefault/time.Second))
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
	case a.length < sessionLeast:
		return a, invalid(c.params.String("DurationSeconds"), "durationSeconds", "Member must have value greater than or equal to 900")
	case a.length > sessionMost:
		return a, invalid(c.params.String("DurationSeconds"), "durationSeconds", "Member must have value less than or equal to 43200")
	}
	return a, nil
}

// sessionMost is how long credentials of the role hold at most.
func (r *role) sessionMost() time.Duration {
	if r.SessionSeconds == 0 {
		return sessionDefault
	}
	return time.Duration(r.SessionSeconds) * time.Second
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
	given, err := readTags(c.params.List("Tags"))
	if err != nil {
		return nil, iamTagError(err)
	}
	st, who := c.state(), c.server.callerOf(c.who.key)
	r := st.roleByARN(a.arn)
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
			return nil, wire.Errorf("AccessDenied", "User: %s is not authorized to perform: %s on resource: %s", who.arn(st.Account), action, a.arn).WithStatus(http.StatusForbidden)
		}
	}
	switch chained := st.Sessions[c.who.key] != nil; {
	case chained && a.length > sessionDefault:
		return nil, wire.Errorf("ValidationError", "The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining")
	case a.length > r.sessionMost():
		return nil, tooLong()
	}
	out := c.server.handOut(r, a.session, a.length, given.asMap())
	return struct {
		Credentials credentialsXML `xml:"Credentials"`
		User        assumedXML     `xml:"AssumedRoleUser"`
	}{out.asXML(), out.user(st.Account)}, nil
}

// mayAssume decides by the trust policy of the role and by the policies of the caller, of which "you can do either"
// where both are of one account and the trust names the caller itself.
func (c *call) mayAssume(who caller, r *role, action string, a assumption, given tags) (bool, error) {
	account := c.state().Account
	self := []string{who.arn(account)}
	if own := c.state().Roles[who.role]; own != nil {
		self = append(self, c.state().roleARN(own))
	}
	context := func() iampolicy.Context {
		n := giving(need(action, c.state().roleARN(r)), given)
		n.Context.Set("aws:PrincipalArn", self[len(self)-1])
		n.Context.Set("aws:PrincipalAccount", account.ID)
		n.Context.Set("aws:RequestedRegion", c.who.region)
		n.Context.Set("sts:RoleSessionName", a.session)
		if c.params.Has("ExternalId") {
			n.Context.Set("sts:ExternalId", c.params.String("ExternalId"))
		}
		return n.Context
	}
	named, err := c.state().trusts(r, iampolicy.Caller{Sort: iampolicy.PrincipalAWS, Names: self}, context(), action)
	if err != nil {
		return false, err
	}
	all := append([]string{account.ID, account.arn("iam", "", "root")}, self...)
	trusted, err := c.state().trusts(r, iampolicy.Caller{Sort: iampolicy.PrincipalAWS, Names: all}, context(), action)
	if err != nil || trusted != iampolicy.Allowed || !who.decided {
		return trusted == iampolicy.Allowed, err
	}
	documents, err := c.server.documentsOf(who.role)
	if err != nil {
		return false, err
	}
	own, _, err := iampolicy.Decide(documents, iampolicy.Call{Action: action, Resource: c.state().roleARN(r), Context: context()})
	return err == nil && (own == iampolicy.Allowed || own == iampolicy.ImplicitDeny && named == iampolicy.Allowed), err
}
