package whole_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/wire"
	emulated "github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/fakecloud"
	"github.com/daemok/daemok/test/market"
)

// account is an emulated AWS account behind a world: controllers reach it by the real SDK
// and cloud/aws, over AWS's own wire, though no socket. It offers what the world's market
// offers.
type account struct {
	server *emulator.Server
	parts  parts
	given  []string // what it has that no controller made
}

// reportAWS is tell where the cloud is AWS.
func reportAWS(t *testing.T, seed uint64, story func(t *testing.T, w *world)) {
	t.Helper()
	reportAWSWith(t, fakecloud.Options{Seed: seed}, story)
}

// reportAWSWith is reportAWS where what the market offers, or how, is not as usual.
func reportAWSWith(t *testing.T, o fakecloud.Options, story func(t *testing.T, w *world)) {
	t.Helper()
	asIfAtAWS(t)
	report(t, o, func(t *testing.T, w *world) {
		w.openAccount(o.Seed)
		story(t, w)
	})
}

// asIfAtAWS has the SDK take the settings of an account that none has.
func asIfAtAWS(t testing.TB) {
	for name, value := range map[string]string{
		"AWS_MAX_ATTEMPTS": "1", "AWS_CA_BUNDLE": "", "AWS_ENDPOINT_URL": "http://aws.test", "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
}

// openAccount also makes a class, which is ready soon after a controller has begun.
func (w *world) openAccount(seed uint64) {
	w.t.Helper()
	w.aws = &account{server: emulator.New(emulated.Options{
		Account: emulated.Account{ClusterName: "test"}, Seed: seed, Now: time.Now, TimeScale: 1, Lags: w.lags, Market: w.cloud.Market()}),
		parts: parts{halved: map[string]bool{}, replies: map[string]reply{}}}
	account := &class.Account{}
	account.Set(class.Usual{InstanceProfile: nodeProfile})
	w.kinds = []class.Kind{*ec2NodeClasses(), class.NodeTemplates(account), class.Provisioners(account)}
	w.aws.given = w.made()
	w.makeClass()
	w.everybody.Go(func() { w.aws.server.Run(context.Background()) })
}

// bootOf tells what becomes of an instance.
func (w *world) bootOf(m market.Machine) (fakecloud.Boot, bool) {
	if w.aws == nil {
		return w.cloud.Boot(m.ID)
	}
	b := fakecloud.Boot{RunningAt: m.RunningAt, Node: cloud.NodeSetup{Taints: []cloud.Taint{{Key: api.TaintUnregistered, Effect: "NoExecute"}}}}
	if !m.NeverJoins {
		b.JoinsAt = m.RunningAt.Add(m.JoinFor)
	}
	return b, true
}

// provider remembers nothing, and knows the types of the region.
func (w *world) provider(do *carrier, changes ...func(*aws.Options)) *aws.Provider {
	w.t.Helper()
	o := aws.Options{Cluster: "test", Endpoint: "https://api.test", CA: "Y2E=", CIDR: "10.100.0.0/16", HTTP: do}
	for _, change := range changes {
		change(&o)
	}
	p, err := aws.New(context.Background(), o)
	if err == nil {
		err = p.RefreshTypes(context.Background())
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// carrier brings the requests of one controller to the account, and has them fail.
type carrier struct {
	account *account
	ordeal  *ordeal // nil: nothing fails
	story   *story  // told of replies that are right in part; nil: none is
	usual   bool    // pages are as large as in life

	mu    sync.Mutex
	aimed *aim // at one call; nil: at none
}

// What ends the names of calls that ask for further pages, and of those that only ask
// whether they would be allowed.
const (
	nextPage = ", a further page"
	dryRun   = ", a dry run"
)

// restActions are the only calls that services get whose requests do not name the action. Those of Savings Plans are
// named by their paths.
var restActions = map[string]string{"eks": "DescribeCluster"}

// trouble is how a call to AWS fails: an error code of AWS's, or one of two.
type trouble string

// Troubles other than AWS's own error codes.
const (
	notSent trouble = "the connection breaks before it is sent"
	noReply trouble = "it takes effect and the reply is lost"
)

// Error makes it what an ordeal hands out.
func (t trouble) Error() string { return string(t) }

// troubles are those that any action may have, by AWS's documents, and those of some.
func troubles(action string) []trouble {
	all := []trouble{notSent, noReply, "RequestLimitExceeded", "UnauthorizedOperation", "InternalError", "Unavailable"}
	switch action {
	case "DescribeInstances" + nextPage:
		all = append(all, "InvalidNextToken")
	case "TerminateInstances", "CreateTags": // that listed ones are not there EC2 says of new ones alone, and the emulator does
		all = append(all, "InvalidInstanceID.NotFound")
	case "CreateFleet":
		all = append(all, "InvalidLaunchTemplateName.NotFoundException")
	case "DescribeCluster":
		return []trouble{notSent, noReply, "AccessDeniedException", "ClientException", "ResourceNotFoundException", "ServerException", "ServiceUnavailableException"}
	case "GetParameter":
		return []trouble{notSent, noReply, "AccessDeniedException", "InternalServerError", "ParameterNotFound", "ThrottlingException"}
	case "DeleteMessageBatch", "GetQueueUrl", "ListQueueTags", "ReceiveMessage":
		return []trouble{notSent, noReply, "AccessDeniedException", "InternalFailure", "KmsAccessDenied", "OverLimit", "QueueDoesNotExist", "RequestThrottled", "ServiceUnavailable"}
	case "DescribeImages":
		all = append(all, "InvalidAMIID.NotFound")
	}
	if strings.HasSuffix(strings.TrimSuffix(action, "s"), "InstanceProfile") {
		return append([]trouble{notSent, noReply, "AccessDenied", "ServiceFailure", "Throttling"}, profileTroubles[action]...)
	}
	return all
}

// profileTroubles are those of IAM's calls about instance profiles, beside those that
// they all may have. IAM may not know at once of what it was told a moment ago.
var profileTroubles = map[string][]trouble{
	"GetInstanceProfile":            {"NoSuchEntity"},
	"CreateInstanceProfile":         {"ConcurrentModification", "EntityAlreadyExists", "LimitExceeded"},
	"AddRoleToInstanceProfile":      {"EntityAlreadyExists", "LimitExceeded", "NoSuchEntity", "UnmodifiableEntity"},
	"RemoveRoleFromInstanceProfile": {"LimitExceeded", "NoSuchEntity", "UnmodifiableEntity"},
	"DeleteInstanceProfile":         {"DeleteConflict", "LimitExceeded"}, // that it has gone already is believed
}

// aim is at the nth call of an action.
type aim struct {
	action string
	nth    int
	with   trouble
	lasts  bool // at all calls from there on
}

// hits reports whether the nth call of an action is aimed at.
func (a aim) hits(action string, nth int) bool {
	return a.action == action && (a.nth == nth || a.lasts && nth > a.nth)
}

// take aims a trouble at a call to come.
func (c *carrier) take(a aim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.aimed = &a
}

func (c *carrier) aim() *aim {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.aimed
}

// awsCall names a call to AWS among those of a controller.
func awsCall(action string) string { return "AWS " + action }

// asked begins the names under which calls to AWS are counted, with those that change
// nothing.
const asked = "asked of AWS: "

// changes reports whether an action may change anything.
func changes(action string) bool {
	asks := func(verb string) bool { return strings.HasPrefix(action, verb) }
	return !slices.ContainsFunc([]string{"Describe", "Get", "List", "ReceiveMessage"}, asks) && !strings.HasSuffix(action, dryRun)
}

// Do implements client.Doer.
func (c *carrier) Do(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		form = nil // JSON
	}
	at := wire.Locate(r, form)
	x := exchange{cmp.Or(at.Action, restActions[at.Service], strings.Trim(r.URL.Path, "/")), r, body, form}
	if x.action == "DescribeInstances" && form.Has("MaxResults") && !c.usual {
		x = x.with(func(f url.Values) { f.Set("MaxResults", "5") }) // as few as EC2 lets one ask for, so that there are pages
	}
	name := x.action
	if form.Has("NextToken") {
		name += nextPage
	}
	if form.Get("DryRun") == "true" {
		name += dryRun
	}
	before, after := c.fate(name)
	var out *httptest.ResponseRecorder
	switch with, isTrouble := errors.AsType[trouble](before); {
	case isTrouble && slices.Contains(partTroubles(x.action), with):
		out = c.partly(x, with)
	case isTrouble && with != notSent:
		c.account.server.Fault(x.action, 1, string(with))
		out = c.serve(x)
	case before != nil:
		return nil, before
	default:
		out = c.wholly(x)
	}
	if after != nil {
		return nil, after
	}
	answer := out.Result()
	answer.Request = r
	return answer, nil
}

// fate is what becomes of a call.
func (c *carrier) fate(action string) (before, after error) {
	o := c.ordeal
	if o == nil {
		return nil, nil
	}
	nth := o.count(asked + action)
	if a := c.aim(); a != nil && a.hits(action, nth) {
		if a.with == noReply {
			return nil, noReply
		}
		return a.with, nil
	}
	return o.call(awsCall(action), changes(action), func() error {
		all := append(slices.DeleteFunc(troubles(action), func(t trouble) bool { return t == noReply }), partTroubles(action)...)
		return all[int(draw(o.seed, fmt.Sprintf("%s/%d/trouble", action, o.counts[awsCall(action)]))*float64(len(all)))]
	})
}

// aimsAt lists every trouble of every action that a clean run calls, at its first call
// and at a later one.
func aimsAt(calls map[string]int) (out []aim) {
	for _, action := range slices.Sorted(maps.Keys(calls)) {
		for _, with := range troubles(action) {
			out = append(out, aim{action: action, nth: 1, with: with})
			if calls[action] > 2 {
				out = append(out, aim{action: action, nth: 3, with: with})
			}
		}
	}
	return out
}

// Each call to AWS fails once, in each way that AWS documents, at its first time and
// later: three pods run on three instances all the same, none is launched twice, and in
// the end nothing is left.
func TestNoTroubleOfAnAWSCallLosesAnything(t *testing.T) {
	calls := map[string]int{}
	reportAWS(t, 1, func(_ *testing.T, w *world) {
		w.upAndDown(w.start(setup{}))
		calls = w.running[0].ordeal.counted(asked)
	})
	for _, action := range []string{
		"AddRoleToInstanceProfile", "CreateFleet", "CreateFleet" + dryRun, "CreateInstanceProfile", "CreateLaunchTemplate", "CreateTags", "DeleteInstanceProfile",
		"DeleteLaunchTemplate", "DescribeCluster", "DescribeImages", "DescribeInstances", "GetParameter", "TerminateInstances",
	} {
		if calls[action] == 0 {
			t.Errorf("%s is never called: what is tested? %v", action, calls)
		}
	}
	for i, a := range aimsAt(calls) {
		if *deaths > 0 && (i+1)%(8**deaths) != 0 {
			continue
		}
		t.Run(fmt.Sprintf("%s %d %s", a.action, a.nth, a.with), func(t *testing.T) {
			reportAWS(t, 1, func(t *testing.T, w *world) {
				w.upAndDown(w.start(setup{aimed: &a}))
				if n := w.running[0].ordeal.counted(asked)[a.action]; n < a.nth {
					t.Errorf("%s was called %d times: nothing went wrong", a.action, n)
				}
			})
		})
	}
}

// The controller dies before or after any of its calls to AWS that change something, or
// of its writes about classes, and begins again with an empty memory.
func TestDeathAtAnyAWSCallLosesNothingAndLaunchesNothingTwice(t *testing.T) {
	var calls []string
	reportAWS(t, 2, func(_ *testing.T, w *world) {
		w.upAndDown(w.start(setup{}))
		calls = w.running[0].ordeal.made()
	})
	for i, call := range calls {
		for _, after := range []bool{false, true} {
			if !strings.HasPrefix(call, awsCall("")) && !strings.Contains(call, "EC2NodeClass") || !tried(i+1, 2, after) {
				continue
			}
			t.Run(fmt.Sprintf("%d %s, after it %v", i+1, call, after), func(t *testing.T) {
				reportAWS(t, 2, func(_ *testing.T, w *world) { w.survive(setup{dieAt: i + 1, after: after}) })
			})
		}
	}
}
