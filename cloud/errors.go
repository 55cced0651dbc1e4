package cloud

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// NoCapacityError says that instances could not be had now. It is an ordinary
// answer: launch something else, or wait. The provider remembers the offerings for
// a while, so the next catalogue shows them as not available.
type NoCapacityError struct {
	Offerings []OfferingChoice // those that were short, in the order asked; none: nothing suitable was left to ask for
	Cause     string           // the cloud's own words
	Answered  bool             // the cloud's answer to the request's token: earlier requests under it brought no more, nor will later ones
}

func (e *NoCapacityError) Error() string {
	if len(e.Offerings) == 0 {
		return "no capacity: " + e.Cause
	}
	names := make([]string, 0, 3)
	for i, o := range e.Offerings {
		if i == 3 {
			names = append(names, fmt.Sprintf("%d more", len(e.Offerings)-3))
			break
		}
		names = append(names, fmt.Sprintf("%s %s in %s", o.Option, o.Kind, o.Zone))
	}
	return fmt.Sprintf("no capacity for %s: %s", strings.Join(names, ", "), e.Cause)
}

// TokenMismatchError says that the token was used before with other
// parameters: the earlier request did arrive. List by batch tells its outcome.
type TokenMismatchError struct{ Token string }

func (e *TokenMismatchError) Error() string {
	return fmt.Sprintf("token %s was used before with other parameters", e.Token)
}

// NotFoundError says that an instance does not exist, or no longer.
type NotFoundError struct{ InstanceID string }

func (e *NotFoundError) Error() string { return "no instance " + e.InstanceID }

// NotVisibleError says that the cloud does not know an instance yet that it launched a
// moment ago: nothing was asked of it, and the same call does within seconds.
type NotVisibleError struct{ InstanceID string }

func (e *NotVisibleError) Error() string {
	return "instance " + e.InstanceID + " was launched a moment ago and is not visible yet"
}

// IsNotVisible reports whether nothing but that is wrong.
func IsNotVisible(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return len(joined.Unwrap()) > 0 && !slices.ContainsFunc(joined.Unwrap(), func(e error) bool { return !IsNotVisible(e) })
	}
	_, ok := errors.AsType[*NotVisibleError](err)
	return ok
}

// RefusedError says that the cloud will not do this as asked, now or on a
// repeat: missing rights, a wrong setting. Reason is a condition reason in
// the API's words (Unauthorized, InvalidAMIID, LaunchFailed ...).
type RefusedError struct {
	Reason string
	Cause  string
}

func (e *RefusedError) Error() string { return e.Reason + ": " + e.Cause }

// InternalError says that the cloud failed by itself: none knows whether the call has
// taken effect, and the same may work later.
type InternalError struct{ Cause error }

func (e *InternalError) Error() string { return e.Cause.Error() }

func (e *InternalError) Unwrap() error { return e.Cause }

// ThrottledError says that the cloud asked to be called less often, after
// the provider's own retries.
type ThrottledError struct{ Call string }

func (e *ThrottledError) Error() string {
	return e.Call + " is throttled by the cloud: have other programs of this account call it less often"
}

// Cause is the error's text without the reason that a condition and an
// event show before it anyway, and not too long for either.
func Cause(why error, bytesMax int) string {
	text := why.Error()
	if refused, ok := errors.AsType[*RefusedError](why); ok {
		text = strings.Replace(text, refused.Error(), refused.Cause, 1)
	}
	if len(text) > bytesMax {
		text = strings.ToValidUTF8(text[:bytesMax], "")
	}
	return text
}
