package identity

import (
	"net/http"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// Forms of dates in signatures, and how old one may be, or how far ahead.
const (
	signedForm = "20060102T150405Z"
	signedFor  = 15 * time.Minute
)

// Skew has the clock by which AWS judges what its callers date (tokens, signatures, credentials) go wrong, seen from
// theirs: by is positive where AWS's is ahead. Zero is right again. Unlike Forward it lets no time pass in the account.
// It is not part of what Export writes.
func (s *Identity) Skew(by time.Duration) { s.Clock.Skew(by) }

// Skewed is what Skew said last.
func (s *Identity) Skewed() time.Duration { return s.Clock.Skewed() }

// Dated is STS's refusal of a call whose signature is too old, or of a time to come. Where the server was given a
// clock of its own, callers sign by another one, and nothing is refused.
func (s *Identity) Dated(c *world.Call) *wire.Error {
	signed, err := time.Parse(signedForm, c.Who.Signed)
	if c.Service != wire.STS || !s.Clock.Real || err != nil {
		return nil //nolint:nilerr // a call that carries no date, as one without a signature, is not judged by it
	}
	now := s.Clock.Callers().UTC()
	text := func(t time.Time) string { return t.Format(signedForm) }
	switch first, last := now.Add(-signedFor), now.Add(signedFor); {
	case signed.Before(first):
		return wire.Errorf("SignatureDoesNotMatch", "Signature expired: %s is now earlier than %s (%s - 15 min.)", text(signed), text(first), text(now)).
			WithStatus(http.StatusForbidden)
	case signed.After(last):
		return wire.Errorf("SignatureDoesNotMatch", "Signature not yet current: %s is still later than %s (%s + 15 min.)", text(signed), text(last), text(now)).
			WithStatus(http.StatusForbidden)
	}
	return nil
}
