package up

import (
	"context"
	"strconv"
)

func (l *Lab) awsURL() string { return "http://127.0.0.1:" + strconv.Itoa(l.identity.Ports.AWS) }

func (l *Lab) startCloud(context.Context) error { return nil }

func (l *Lab) zones() []string {
	return []string{l.identity.Region + "a", l.identity.Region + "b", l.identity.Region + "c"}
}
