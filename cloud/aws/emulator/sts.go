package emulator

import (
	"fmt"
	"strings"
	"time"

	"github.com/daemok/daemok/cloud/aws/emulator/wire"
)

func getCallerIdentity(c *call) (any, error) {
	a, role := c.state().Account, c.server.session(c.who.key)
	return struct {
		ARN     string `xml:"Arn"`
		UserID  string `xml:"UserId"`
		Account string `xml:"Account"`
	}{
		ARN:     fmt.Sprintf("arn:aws:sts::%s:assumed-role/%s/session", a.ID, role),
		UserID:  a.uniqueID("AROA", role) + ":session",
		Account: a.ID,
	}, nil
}

type credentialsXML struct {
	Key     string    `xml:"AccessKeyId"`
	Secret  string    `xml:"SecretAccessKey"`
	Token   string    `xml:"SessionToken"`
	Expires time.Time `xml:"Expiration"`
}

type assumedXML struct {
	ARN string `xml:"Arn"`
	ID  string `xml:"AssumedRoleId"`
}

// assumeRole serves both AssumeRole and AssumeRoleWithWebIdentity: any role of
// the account may be assumed, for an hour unless asked otherwise.
func assumeRole(c *call) (any, error) {
	st, arn, session := c.state(), c.params.String("RoleArn"), c.params.String("RoleSessionName")
	name := arn[strings.LastIndex(arn, "/")+1:]
	r := st.Roles[name]
	if r == nil || st.roleARN(r) != arn {
		return nil, wire.Errorf("AccessDenied", "Not authorized to perform sts:%s on %s", c.action, arn).WithStatus(403)
	}
	length, err := c.params.Int("DurationSeconds", 3600)
	if err != nil {
		return nil, err
	}
	return struct {
		Credentials credentialsXML `xml:"Credentials"`
		User        assumedXML     `xml:"AssumedRoleUser"`
	}{
		credentialsXML{
			Key: st.Account.uniqueID("ASIA", name), Secret: "pretend", Token: "pretend",
			Expires: c.now.Add(time.Duration(length) * time.Second).Truncate(time.Second),
		},
		assumedXML{ARN: fmt.Sprintf("arn:aws:sts::%s:assumed-role/%s/%s", st.Account.ID, name, session), ID: r.ID + ":" + session},
	}, nil
}
