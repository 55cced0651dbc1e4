package emulator

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
)

// sessionKeys is how access keys of temporary credentials begin.
const sessionKeys = "ASIA"

// rememberedFor is how long credentials that have expired are told from those that never were.
const rememberedFor = 24 * time.Hour

// session is what temporary credentials stand for: a role of the account, as somebody assumed it.
type session struct {
	Role, RoleID string // a role of the same name that is made later is another one
	Name         string
	Token        string
	Tags         map[string]string `json:",omitempty"`
	ExpiresAt    time.Time         // by the clock of callers
}

// credentials are what is handed out, once.
type credentials struct {
	key, secret string
	*session
}

// handOut makes credentials of a role; the lock is held.
func (s *Server) handOut(r *role, name string, length time.Duration, tags map[string]string) credentials {
	st, now := s.st, s.clock.callers()
	for key, old := range st.Sessions {
		if now.Sub(old.ExpiresAt) > rememberedFor {
			delete(st.Sessions, key)
		}
	}
	drawn := st.newID(sessionKeys)
	chance := func(n int) (all []byte) {
		for i := range n {
			part := sha256.Sum256(fmt.Appendf(nil, "%d %s %d %d", s.seed, drawn, n, i))
			all = append(all, part[:]...)
		}
		return all
	}
	c := credentials{
		key:    sessionKeys + base32.StdEncoding.EncodeToString(chance(1))[:16],
		secret: base64.StdEncoding.EncodeToString(chance(2))[:40],
		session: &session{
			Role: r.Name, RoleID: r.ID, Name: name, Tags: tags,
			Token: base64.StdEncoding.EncodeToString(chance(9)), ExpiresAt: now.Add(length).Truncate(time.Second),
		},
	}
	st.Sessions[c.key] = c.session
	return c
}

// caller is the role that a call is made as, under a session's name.
type caller struct {
	role, session string
	tags          map[string]string // of the role and of the session, whose count more
	decided       bool              // the role's policies decide
}

// callerOf tells whose an access key is; the lock is held. Keys that none handed out, and that
// Enforce does not know, are taken for the controller's, with a right to everything.
func (s *Server) callerOf(key string) caller {
	c := caller{role: s.st.Account.controllerRole(), session: "session"}
	if role, enforced := s.enforced[key]; enforced {
		c.role, c.decided = role, true
	}
	given := s.st.Sessions[key]
	if given != nil {
		c.role, c.session, c.decided = given.Role, given.Name, true
	}
	if r := s.st.Roles[c.role]; r != nil {
		c.tags = r.Tags.asMap()
		if given != nil {
			for name, value := range given.Tags {
				c.tags[name] = value
			}
		}
	}
	return c
}

// arn names the caller as GetCallerIdentity and refusals do.
func (c caller) arn(a Account) string { return a.arn("sts", "", "assumed-role/"+c.role+"/"+c.session) }

// decides reports whether what a role's policies say counts for some call; the lock is held.
func (s *Server) decides(role string) bool {
	for _, enforced := range s.enforced {
		if enforced == role {
			return true
		}
	}
	for _, given := range s.st.Sessions {
		if given.Role == role {
			return true
		}
	}
	return false
}

// recognized is the refusal of temporary credentials that AWS does not know, or no longer; nil for
// all others. The lock is held.
func (c *call) recognized() *wire.Error {
	if !strings.HasPrefix(c.who.key, sessionKeys) {
		return nil
	}
	st := c.state()
	given := st.Sessions[c.who.key]
	switch {
	case given == nil || given.Token != c.who.token:
		return unrecognized(c.service)
	case st.Roles[given.Role] == nil || st.Roles[given.Role].ID != given.RoleID:
		return unrecognized(c.service)
	case !c.server.clock.callers().Before(given.ExpiresAt):
		return expired(c.service)
	}
	return nil
}

// unrecognized is what a service says of credentials that are none's.
func unrecognized(service string) *wire.Error {
	const says = "The security token included in the request is invalid."
	switch {
	case service == wire.EC2:
		return wire.Errorf("AuthFailure", "AWS was not able to validate the provided access credentials").WithStatus(http.StatusUnauthorized)
	case wire.SpeaksQuery(service), service == wire.SQS:
		return wire.Errorf("InvalidClientTokenId", says).WithStatus(http.StatusForbidden)
	case restRoutes[service] != nil:
		return wire.Errorf("UnrecognizedClientException", says).WithStatus(http.StatusForbidden)
	}
	return wire.Errorf("UnrecognizedClientException", says)
}

// expired is what a service says of credentials whose time is over.
func expired(service string) *wire.Error {
	const says = "The security token included in the request is expired"
	switch {
	case service == wire.EC2:
		return wire.Errorf("RequestExpired", "Request has expired.")
	case wire.SpeaksQuery(service), service == wire.SQS:
		return wire.Errorf("ExpiredToken", says).WithStatus(http.StatusForbidden)
	case restRoutes[service] != nil:
		return wire.Errorf("ExpiredTokenException", says).WithStatus(http.StatusForbidden)
	}
	return wire.Errorf("ExpiredTokenException", says)
}
