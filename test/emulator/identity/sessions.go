package identity

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// sessionKeys is how access keys of temporary credentials begin.
const sessionKeys = "ASIA"

// rememberedFor is how long credentials that have expired are told from those that never were.
const rememberedFor = 24 * time.Hour

// Session is what temporary credentials stand for: a role of the account, as somebody assumed it.
type Session struct {
	Role, RoleID string // a role of the same name that is made later is another one
	Name         string
	Token        string
	Tags         map[string]string `json:",omitempty"`
	ExpiresAt    time.Time         // by the clock of callers
}

// Credentials are what is handed out, once.
type Credentials struct {
	Key, Secret string
	*Session
}

// HandOut makes credentials of a role; the lock is held.
func (s *Identity) HandOut(r *Role, name string, length time.Duration, tags map[string]string) Credentials {
	now := s.Clock.Callers()
	for key, old := range s.Sessions {
		if now.Sub(old.ExpiresAt) > rememberedFor {
			delete(s.Sessions, key)
		}
	}
	drawn := s.NewID(sessionKeys)
	chance := func(n int) (all []byte) {
		for i := range n {
			part := sha256.Sum256(fmt.Appendf(nil, "%d %s %d %d", s.Seed(), drawn, n, i))
			all = append(all, part[:]...)
		}
		return all
	}
	c := Credentials{
		Key:    sessionKeys + base32.StdEncoding.EncodeToString(chance(1))[:16],
		Secret: base64.StdEncoding.EncodeToString(chance(2))[:40],
		Session: &Session{
			Role: r.Name, RoleID: r.ID, Name: name, Tags: tags,
			Token: base64.StdEncoding.EncodeToString(chance(9)), ExpiresAt: now.Add(length).Truncate(time.Second),
		},
	}
	s.Sessions[c.Key] = c.Session
	return c
}

// Caller is the role that a call is made as, under a session's name.
type Caller struct {
	Role, Session string
	tags          map[string]string // of the role and of the session, whose count more
	Decided       bool              // the role's policies decide
}

// CallerOf tells whose an access key is; the lock is held. Keys that none handed out, and that
// Enforce does not know, are taken for the controller's, with a right to everything.
func (s *Identity) CallerOf(key string) Caller {
	c := Caller{Role: s.Settings.ControllerRole(), Session: "session"}
	if role, enforced := s.enforced[key]; enforced {
		c.Role, c.Decided = role, true
	}
	given := s.Sessions[key]
	if given != nil {
		c.Role, c.Session, c.Decided = given.Role, given.Name, true
	}
	if r := s.Roles[c.Role]; r != nil {
		c.tags = r.Tags.AsMap()
		if given != nil {
			for name, value := range given.Tags {
				c.tags[name] = value
			}
		}
	}
	return c
}

// ARN names the caller as GetCallerIdentity and refusals do.
func (c Caller) ARN(a world.Account) string {
	return a.ARN("sts", "", "assumed-role/"+c.Role+"/"+c.Session)
}

// Decides reports whether what a role's policies say counts for some call; the lock is held.
func (s *Identity) Decides(role string) bool {
	for _, enforced := range s.enforced {
		if enforced == role {
			return true
		}
	}
	for _, given := range s.Sessions {
		if given.Role == role {
			return true
		}
	}
	return false
}

// Recognized is the refusal of temporary credentials that AWS does not know, or no longer; nil for
// all others. The lock is held.
func (s *Identity) Recognized(c *world.Call) *wire.Error {
	if !strings.HasPrefix(c.Who.Key, sessionKeys) {
		return nil
	}
	given := s.Sessions[c.Who.Key]
	switch {
	case given == nil || given.Token != c.Who.Token:
		return unrecognized(c.Service)
	case s.Roles[given.Role] == nil || s.Roles[given.Role].ID != given.RoleID:
		return unrecognized(c.Service)
	case !s.Clock.Callers().Before(given.ExpiresAt):
		return expired(c.Service)
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
	case wire.JSONType(service) == wire.RESTJSON:
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
	case wire.JSONType(service) == wire.RESTJSON:
		return wire.Errorf("ExpiredTokenException", says).WithStatus(http.StatusForbidden)
	}
	return wire.Errorf("ExpiredTokenException", says)
}

// CredentialsXML is how STS writes credentials.
type CredentialsXML struct {
	Key     string    `xml:"AccessKeyId"`
	Secret  string    `xml:"SecretAccessKey"`
	Token   string    `xml:"SessionToken"`
	Expires time.Time `xml:"Expiration"`
}

// AsXML is how STS writes them.
func (c Credentials) AsXML() CredentialsXML {
	return CredentialsXML{Key: c.Key, Secret: c.Secret, Token: c.Token, Expires: c.ExpiresAt}
}

// AssumedXML is how STS names who has credentials.
type AssumedXML struct {
	ARN string `xml:"Arn"`
	ID  string `xml:"AssumedRoleId"`
}

// User names who has them.
func (c Credentials) User(a world.Account) AssumedXML {
	return AssumedXML{ARN: Caller{Role: c.Role, Session: c.Name}.ARN(a), ID: c.RoleID + ":" + c.Name}
}
