package emulator

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
)

const requestBytesMax = 4 << 20

// call is one request on its way through the server.
type call struct {
	ctx     context.Context
	server  *Server
	service string
	action  string
	who     principal
	host    string            // that was asked
	names   map[string]string // what a REST path names
	query   url.Values        // of a REST request
	params  *wire.Node        // of query protocols
	body    []byte            // of JSON protocols
	older   bool              // asked by the protocol that SQS spoke before JSON
	now     time.Time
}

// handler answers one action. It runs with the state locked unless its entry
// says otherwise, and returns what is to be encoded.
type handler func(*call) (any, error)

// action is one entry of an action table.
type action struct {
	serve   handler
	effects bool // changes something: it decides itself when a dry run is over
	waits   bool // takes the lock itself
}

// state returns the account; only handlers, which hold the lock, call it.
func (c *call) state() *state { return c.server.st }

// commit ends a dry run: handlers with effects call it when all is checked and
// nothing is done yet.
func (c *call) commit() error {
	if !c.params.Bool("DryRun") {
		return nil
	}
	return wire.Errorf("DryRunOperation", "Request would have succeeded, but DryRun flag is set.").WithStatus(http.StatusPreconditionFailed)
}

// decode reads a JSON body.
func (c *call) decode(to any) error {
	if len(c.body) == 0 {
		return nil
	}
	if err := json.Unmarshal(c.body, to); err != nil {
		return wire.Errorf("SerializationException", "%s: %v", c.action, err)
	}
	return nil
}

// ServeHTTP answers one AWS request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.clock.skewed() != 0 { // or the server would tell the right one
		w.Header().Set("Date", s.clock.callers().UTC().Format(http.TimeFormat))
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, requestBytesMax))
	if err != nil {
		return // the client went away
	}
	form, err := formOf(r, body)
	if err != nil {
		http.Error(w, "the form does not decode: "+err.Error(), http.StatusBadRequest)
		return
	}
	at := wire.Locate(r, form)
	c := &call{ctx: r.Context(), server: s, service: at.Service, action: at.Action, who: principal{at.Key, at.Region, at.Token, at.Signed}, host: r.Host, params: wire.ParseForm(form), body: body}
	if routes, rest := restRoutes[at.Service]; rest {
		c.action, c.names = route(routes, r.Method, r.URL.EscapedPath())
		c.query = r.URL.Query()
	}
	if c.older = c.service == wire.SQS && form != nil; c.older {
		if c.body, err = fromOlder(c.action, c.params); err != nil {
			s.reply(w, c, nil, asError(err))
			return
		}
	}
	if jsonTypes[c.service] != "" && form != nil && !c.older || s.tables[c.service] == nil && c.service != "" {
		s.market.Call(cmp.Or(c.action, r.Method+" "+r.URL.Path))
		wire.RefuseElsewhere(w, r, c.service, s.requestID(), unknownAction(c))
		return
	}
	answer, refused := s.serve(c)
	s.reply(w, c, answer, refused)
}

// formOf reads what a request of a query protocol says, in its body or, by GET, in its
// URL; nil where it is of another protocol.
func formOf(r *http.Request, body []byte) (url.Values, error) {
	if wire.IsForm(r) {
		return url.ParseQuery(string(body))
	}
	if query := r.URL.Query(); query.Has("Action") {
		return query, nil
	}
	return nil, nil
}

// requestID is another one for every request.
func (s *Server) requestID() string {
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(s.seed), s.requests.Add(1)) // the low half of the seed will do
}

// admit counts a call and reports whether its token bucket allows it. The bucket of
// RunInstances is one of launches: a dry run takes nothing from it.
func (s *Server) admit(c *call) bool {
	if c.action == "RunInstances" && c.params.Bool("DryRun") {
		s.market.Rehearse(c.action)
		return true
	}
	return s.market.Call(c.action)
}

// serve runs faults, rights, throttles and the handler, in the order of AWS.
func (s *Server) serve(c *call) (any, *wire.Error) {
	entry, known := s.tables[c.service][c.action]
	allowed := s.admit(c)
	s.mu.Lock()
	c.now = s.now()
	refused, lost := s.faulty(c.action)
	stranger := cmp.Or(c.dated(), c.recognized())
	denied, forbidden := c.deniedAction(), c.forbidden()
	s.mu.Unlock()
	switch {
	case !known:
		return nil, unknownAction(c)
	case refused != nil && !lost:
		return nil, refused
	case c.service == wire.EC2 && !allowed:
		return nil, wire.Errorf("RequestLimitExceeded", "Request limit exceeded.").WithStatus(http.StatusServiceUnavailable)
	case stranger != nil:
		return nil, stranger
	case denied != "":
		return nil, deniedAnswer(c, denied)
	case forbidden != nil:
		return nil, asError(forbidden)
	}
	if c.service == wire.EC2 && !entry.effects {
		if err := c.commit(); err != nil {
			return nil, asError(err)
		}
	}
	answer, err := s.run(c, entry)
	if lost {
		return nil, refused
	}
	return answer, asError(err)
}

func (s *Server) run(c *call, entry action) (any, error) {
	if entry.waits {
		return entry.serve(c)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.st.publishDue(c.now)
	return entry.serve(c)
}

func unknownAction(c *call) *wire.Error {
	if c.service == "" {
		return wire.Errorf("MissingAuthenticationToken", "the emulator cannot find the service of action %q, which it reads from the signature: sign the request, with any key", c.action)
	}
	table := c.server.tables[c.service]
	switch {
	case table == nil:
		return wire.Errorf("InvalidAction", "The emulator has no service %s: it answers for %s.", c.service, listed(maps.Keys(c.server.tables)))
	case table[c.action].serve != nil: // asked by another protocol
		return wire.Errorf("InvalidAction", "The emulator's %s service answers %s in its JSON protocol alone.", c.service, c.action)
	}
	return wire.Errorf("InvalidAction", "The emulator's %s service has no action %s: it has %s.", c.service, c.action, listed(maps.Keys(table)))
}

func listed(names iter.Seq[string]) string { return strings.Join(slices.Sorted(names), ", ") }

// forbidden is the refusal of a call that the policies of its caller do not allow; nil where they do. The lock is held.
func (c *call) forbidden() error {
	if !c.server.callerOf(c.who.key).decided || c.server.tables[c.service][c.action].serve == nil {
		return nil
	}
	return c.server.authorize(c.who, c.service, c.server.ofCall(c))
}

// deniedAction is the action that the call has no right to, empty where it has all that it needs: its own, and where
// it tags what it makes, that to tag. The lock is held.
func (c *call) deniedAction() string {
	switch tags := c.params.Has("TagSpecification") || c.params.Has("TagSpecifications"); {
	case c.server.denied[c.action]:
		return c.action
	case c.service == wire.EC2 && tags && c.server.denied[actionTag]:
		return actionTag
	}
	return ""
}

func deniedAnswer(c *call, action string) *wire.Error {
	who := c.server.Account()
	switch message := lacks(who, c.service, action); c.service {
	case wire.EC2:
		return c.server.unauthorized(who, action, "arn:aws:ec2:"+who.Region+":"+who.ID+":*")
	case wire.IAM, wire.STS, wire.Scaling, wire.ELB:
		return wire.Errorf("AccessDenied", "%s", message).WithStatus(http.StatusForbidden)
	default:
		return wire.Errorf("AccessDeniedException", "%s", message)
	}
}

func lacks(who Account, service, action string) string {
	return fmt.Sprintf("User: arn:aws:sts::%s:assumed-role/%s-karpenter/session is not authorized to perform: %s:%s",
		who.ID, who.ClusterName, service, action)
}

// unauthorized is EC2's refusal of an action on a resource, by its ARN. The part that only
// AWS can read is another one for every call.
func (s *Server) unauthorized(who Account, action, resource string) *wire.Error {
	sealed := sha256.Sum256(fmt.Appendf(nil, "%s %d", action, s.requests.Load()))
	return wire.Errorf("UnauthorizedOperation",
		"You are not authorized to perform this operation. %s on resource: %s because no identity-based policy allows the ec2:%s action."+
			" Encoded authorization failure message: %x", lacks(who, wire.EC2, action), resource, action, sealed).WithStatus(http.StatusForbidden)
}

// asError makes a wire error of any error; one that is not AWS's is an
// internal failure.
func asError(err error) *wire.Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e
	}
	return (&wire.Error{Code: "InternalError", Message: err.Error()}).WithStatus(http.StatusInternalServerError)
}

// reply encodes the answer in the service's protocol.
func (s *Server) reply(w http.ResponseWriter, c *call, answer any, refused *wire.Error) {
	id := s.requestID()
	var err error
	switch {
	case c.older:
		if refused != nil {
			wire.RefuseQuery(w, c.service, id, &wire.Error{Status: refused.Status, Code: legacyQueryCode(refused.Code), Message: refused.Message})
			return
		}
		if answer, err = toOlder(c.action, answer); err == nil {
			err = wire.AnswerQuery(w, c.service, c.action, id, answer)
		}
	case wire.SpeaksQuery(c.service):
		if refused != nil {
			wire.RefuseQuery(w, c.service, id, refused)
			return
		}
		err = wire.AnswerQuery(w, c.service, c.action, id, answer)
	case jsonTypes[c.service] != "":
		if refused != nil {
			wire.RefuseJSON(w, jsonTypes[c.service], id, refused, queryCode(c.service, refused.Code))
			return
		}
		err = wire.AnswerJSON(w, jsonTypes[c.service], id, answer)
	default:
		if refused != nil {
			wire.RefuseEC2(w, id, refused)
			return
		}
		err = wire.AnswerEC2(w, c.action, id, answer)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// jsonTypes are the services that speak JSON, with their content types.
var jsonTypes = map[string]string{
	wire.SQS: wire.JSON10, wire.SSM: wire.JSON11, wire.Pricing: wire.JSON11, wire.Events: wire.JSON11, wire.Quotas: wire.JSON11,
	wire.EKS: wire.RESTJSON, wire.EKSAuth: wire.RESTJSON, wire.FIS: wire.RESTJSON, wire.ARC: wire.RESTJSON,
}

func queryCode(service, code string) string {
	if service != wire.SQS {
		return ""
	}
	return legacyQueryCode(code)
}
