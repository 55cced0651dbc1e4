package emulator

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"

	"github.com/daemok/daemok/test/emulator/ec2/launch"
	"github.com/daemok/daemok/test/emulator/identity"
	"github.com/daemok/daemok/test/emulator/sqs"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

const requestBytesMax = 4 << 20

// ServeHTTP answers one AWS request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.Clock.Skewed() != 0 { // or the server would tell the right one
		w.Header().Set("Date", s.Clock.Callers().UTC().Format(http.TimeFormat))
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
	c := &world.Call{
		World: s.World, Ctx: r.Context(), Service: at.Service, Action: at.Action, Host: r.Host, Params: wire.ParseForm(form), Body: body,
		Who: world.Principal{Key: at.Key, Region: at.Region, Token: at.Token, Signed: at.Signed},
	}
	if routes, rest := restRoutes[at.Service]; rest {
		c.Action, c.Names = route(routes, r.Method, r.URL.EscapedPath())
		c.Query = r.URL.Query()
	}
	if c.Older = c.Service == wire.SQS && form != nil; c.Older {
		if c.Body, err = sqs.FromOlder(c.Action, c.Params); err != nil {
			s.reply(w, c, nil, world.AsError(err))
			return
		}
	}
	if wire.JSONType(c.Service) != "" && form != nil && !c.Older || s.tables[c.Service] == nil && c.Service != "" {
		s.Market().Call(cmp.Or(c.Action, r.Method+" "+r.URL.Path))
		wire.RefuseElsewhere(w, r, c.Service, s.requestID(), s.unknownAction(c))
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
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(s.Seed()), s.Requests.Add(1)) // the low half of the seed will do
}

// admit counts a call and reports whether its token bucket allows it. The bucket of
// RunInstances is one of launches: a dry run takes nothing from it.
func (s *Server) admit(c *world.Call) bool {
	if c.Action == "RunInstances" && c.Params.Bool("DryRun") {
		s.Market().Rehearse(c.Action)
		return true
	}
	return s.Market().Call(c.Action)
}

// serve runs faults, rights, throttles and the handler, in the order of AWS.
func (s *Server) serve(c *world.Call) (any, *wire.Error) {
	entry, known := s.tables[c.Service][c.Action]
	allowed := s.admit(c)
	s.Mu.Lock()
	c.At = s.Now()
	refused, lost := s.Faulty(c.Action)
	stranger := cmp.Or(s.Dated(c), s.Recognized(c))
	denied, forbidden := s.deniedAction(c), s.forbidden(c)
	s.Mu.Unlock()
	switch {
	case !known:
		return nil, s.unknownAction(c)
	case refused != nil && !lost:
		return nil, refused
	case c.Service == wire.EC2 && !allowed:
		return nil, wire.Errorf("RequestLimitExceeded", "Request limit exceeded.").WithStatus(http.StatusServiceUnavailable)
	case stranger != nil:
		return nil, stranger
	case denied != "":
		return nil, s.deniedAnswer(c, denied)
	case forbidden != nil:
		return nil, world.AsError(forbidden)
	}
	if c.Service == wire.EC2 && !entry.Effects {
		if err := c.Commit(); err != nil {
			return nil, world.AsError(err)
		}
	}
	answer, err := s.run(c, entry)
	if lost {
		return nil, refused
	}
	return answer, world.AsError(err)
}

func (s *Server) run(c *world.Call, entry world.Action) (any, error) {
	if entry.Waits {
		return entry.Serve(c)
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.PublishDue(c.At)
	return entry.Serve(c)
}

func (s *Server) unknownAction(c *world.Call) *wire.Error {
	if c.Service == "" {
		return wire.Errorf("MissingAuthenticationToken", "the emulator cannot find the service of action %q, which it reads from the signature: sign the request, with any key", c.Action)
	}
	table := s.tables[c.Service]
	switch {
	case table == nil:
		return wire.Errorf("InvalidAction", "The emulator has no service %s: it answers for %s.", c.Service, world.Listed(maps.Keys(s.tables)))
	case table[c.Action].Serve != nil: // asked by another protocol
		return wire.Errorf("InvalidAction", "The emulator's %s service answers %s in its JSON protocol alone.", c.Service, c.Action)
	}
	return wire.Errorf("InvalidAction", "The emulator's %s service has no action %s: it has %s.", c.Service, c.Action, world.Listed(maps.Keys(table)))
}

// forbidden is the refusal of a call that the policies of its caller do not allow; nil where they do. The lock is held.
func (s *Server) forbidden(c *world.Call) error {
	if !s.CallerOf(c.Who.Key).Decided || s.tables[c.Service][c.Action].Serve == nil {
		return nil
	}
	return s.Authorize(c.Who, c.Service, s.ofCall(c))
}

// deniedAction is the action that the call has no right to, empty where it has all that it needs: its own, and where
// it tags what it makes, that to tag. The lock is held.
func (s *Server) deniedAction(c *world.Call) string {
	switch tags := c.Params.Has("TagSpecification") || c.Params.Has("TagSpecifications"); {
	case s.Denies(c.Action):
		return c.Action
	case c.Service == wire.EC2 && tags && s.Denies(launch.ActionTag):
		return launch.ActionTag
	}
	return ""
}

func (s *Server) deniedAnswer(c *world.Call, action string) *wire.Error {
	who := s.Account()
	switch message := identity.Lacks(who, c.Service, action); c.Service {
	case wire.EC2:
		return s.Unauthorized(who, action, "arn:aws:ec2:"+who.Region+":"+who.ID+":*")
	case wire.IAM, wire.STS, wire.Scaling, wire.ELB:
		return wire.Errorf("AccessDenied", "%s", message).WithStatus(http.StatusForbidden)
	default:
		return wire.Errorf("AccessDeniedException", "%s", message)
	}
}

// reply encodes the answer in the service's protocol.
func (s *Server) reply(w http.ResponseWriter, c *world.Call, answer any, refused *wire.Error) {
	id := s.requestID()
	var err error
	switch {
	case c.Older:
		if refused != nil {
			wire.RefuseQuery(w, c.Service, id, &wire.Error{Status: refused.Status, Code: sqs.LegacyQueryCode(refused.Code), Message: refused.Message})
			return
		}
		if answer, err = sqs.ToOlder(c.Action, answer); err == nil {
			err = wire.AnswerQuery(w, c.Service, c.Action, id, answer)
		}
	case wire.SpeaksQuery(c.Service):
		if refused != nil {
			wire.RefuseQuery(w, c.Service, id, refused)
			return
		}
		err = wire.AnswerQuery(w, c.Service, c.Action, id, answer)
	case wire.JSONType(c.Service) != "":
		if refused != nil {
			wire.RefuseJSON(w, wire.JSONType(c.Service), id, refused, queryCode(c.Service, refused.Code))
			return
		}
		err = wire.AnswerJSON(w, wire.JSONType(c.Service), id, answer)
	default:
		if refused != nil {
			wire.RefuseEC2(w, id, refused)
			return
		}
		err = wire.AnswerEC2(w, c.Action, id, answer)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func queryCode(service, code string) string {
	if service != wire.SQS {
		return ""
	}
	return sqs.LegacyQueryCode(code)
}
