package whole_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
)

// Troubles of calls that do a part of what they should, or tell a part of what is.
const (
	someDone trouble = "it takes effect for some, and the reply says so"
	someEnd  trouble = "it takes effect for some, and the reply is an error" // TerminateInstances, where instances of one zone are protected
	lacking  trouble = "the reply leaves some out"
	stale    trouble = "the reply is one of a while ago"
)

// staleFor is how old a reply may be: EC2's replicas agree in the end.
const staleFor = time.Minute

// partTroubles are those of an action.
func partTroubles(action string) []trouble {
	switch action {
	case "CreateFleet", "DeleteMessageBatch":
		return []trouble{someDone}
	case "TerminateInstances":
		return []trouble{someEnd}
	case "DescribeInstances":
		return []trouble{lacking, stale}
	}
	return nil
}

// parts is what an account must remember to be right in part.
type parts struct {
	mu      sync.Mutex
	halved  map[string]bool  // tokens of fleets that got less than they asked for: a repetition has the same answer
	replies map[string]reply // by request
	struck  int              // how many replies were right in part
}

type reply struct {
	at     time.Time
	answer *httptest.ResponseRecorder
}

func (p *parts) halve(token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.halved[token] = true
}

func (p *parts) isHalved(token string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.halved[token]
}

func (p *parts) keep(body []byte, answer *httptest.ResponseRecorder) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replies[string(body)] = reply{time.Now(), copyOf(answer)}
}

func (p *parts) earlier(body []byte) (*httptest.ResponseRecorder, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last, found := p.replies[string(body)]
	if !found || time.Since(last.at) > staleFor {
		return nil, false
	}
	return copyOf(last.answer), true
}

// exchange is a call and its form, empty for JSON.
type exchange struct {
	action  string
	request *http.Request
	body    []byte
	form    url.Values
}

// serve has the account answer.
func (c *carrier) serve(x exchange) *httptest.ResponseRecorder {
	out, again := httptest.NewRecorder(), x.request.Clone(x.request.Context())
	again.Body, again.ContentLength = io.NopCloser(bytes.NewReader(x.body)), int64(len(x.body))
	c.account.server.ServeHTTP(out, again)
	return out
}

// with is the call with other values in its form.
func (x exchange) with(change func(url.Values)) exchange {
	form := url.Values{}
	for k, v := range x.form {
		form[k] = slices.Clone(v)
	}
	change(form)
	x.body, x.form = []byte(form.Encode()), form
	return x
}

// strikes notes that a reply is right in part.
func (c *carrier) strikes(x exchange, with trouble) {
	p := &c.account.parts
	p.mu.Lock()
	p.struck++
	p.mu.Unlock()
	if c.story != nil {
		c.story.add(fmt.Sprintf("%8s %s: %s", time.Since(c.story.began).Round(time.Millisecond), x.action, with))
	}
}

// partly answers a call with a trouble of these; one that has no part to leave out is
// answered as it should be.
func (c *carrier) partly(x exchange, with trouble) *httptest.ResponseRecorder {
	switch {
	case with == stale:
		if last, found := c.account.parts.earlier(x.body); found {
			c.strikes(x, with)
			return last
		}
	case with == lacking:
		out := c.serve(x)
		body, left := withoutHalf(out.Body.Bytes())
		if left > 0 {
			c.strikes(x, with)
		}
		out.Body = bytes.NewBuffer(body)
		return out
	case x.action == "TerminateInstances":
		if ids := formList(x.form, "InstanceId"); len(ids) > 1 {
			c.strikes(x, with)
			return c.endSome(x, ids)
		}
	case x.action == "CreateFleet":
		c.account.parts.halve(x.form.Get("ClientToken"))
	case x.action == "DeleteMessageBatch":
		return c.deleteSome(x)
	}
	return c.wholly(x)
}

// wholly answers a call as it should be, and remembers what it said. A fleet that got
// half of what it asked for gets no more when it is asked for again.
func (c *carrier) wholly(x exchange) *httptest.ResponseRecorder {
	if x.action == "CreateFleet" && c.account.parts.isHalved(x.form.Get("ClientToken")) {
		return c.launchSome(x)
	}
	out := c.serve(x)
	if x.action == "DescribeInstances" && out.Code == http.StatusOK {
		c.account.parts.keep(x.body, out)
	}
	return out
}

// launchSome launches half of the instances, rounded down, and says of the others that they are
// short.
func (c *carrier) launchSome(x exchange) *httptest.ResponseRecorder {
	const total, override = "TargetCapacitySpecification.TotalTargetCapacity", "LaunchTemplateConfigs.1.Overrides.1."
	asked, _ := strconv.Atoi(x.form.Get(total))
	if asked < 2 {
		return c.serve(x)
	}
	c.strikes(x, someDone)
	out := c.serve(x.with(func(f url.Values) { f.Set(total, strconv.Itoa(asked/2)) }))
	refusal := fmt.Sprintf("<errorSet><item><launchTemplateAndOverrides><overrides><instanceType>%s</instanceType><subnetId>%s</subnetId></overrides></launchTemplateAndOverrides>"+
		"<lifecycle>on-demand</lifecycle><errorCode>InsufficientInstanceCapacity</errorCode><errorMessage>We currently do not have sufficient capacity.</errorMessage></item></errorSet>",
		x.form.Get(override+"InstanceType"), x.form.Get(override+"SubnetId"))
	out.Body = bytes.NewBufferString(strings.Replace(out.Body.String(), "<fleetInstanceSet>", refusal+"<fleetInstanceSet>", 1))
	return out
}

// endSome ends half of the instances, rounded down, and says that one of the others is
// protected.
func (c *carrier) endSome(x exchange, ids []string) *httptest.ResponseRecorder {
	c.serve(x.with(func(f url.Values) {
		for i := range ids {
			f.Del(fmt.Sprintf("InstanceId.%d", i+1))
		}
		for i, id := range ids[:len(ids)/2] {
			f.Set(fmt.Sprintf("InstanceId.%d", i+1), id)
		}
	}))
	out := httptest.NewRecorder()
	wire.RefuseEC2(out, "r", wire.Errorf("OperationNotPermitted",
		"The instance '%s' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.", ids[len(ids)-1]))
	return out
}

// deleteSome deletes half of the messages, rounded down, and says that SQS failed for the
// others.
func (c *carrier) deleteSome(x exchange) *httptest.ResponseRecorder {
	var ask struct {
		QueueURL string `json:"QueueUrl"`
		Entries  []struct{ ID, ReceiptHandle string }
	}
	if err := json.Unmarshal(x.body, &ask); err != nil || len(ask.Entries) == 0 {
		return c.serve(x)
	}
	c.strikes(x, someDone)
	var failed, done []map[string]any
	for _, e := range ask.Entries[len(ask.Entries)/2:] {
		failed = append(failed, map[string]any{"Id": e.ID, "Code": "InternalError", "Message": "try again", "SenderFault": false})
	}
	out := httptest.NewRecorder()
	if ask.Entries = ask.Entries[:len(ask.Entries)/2]; len(ask.Entries) > 0 {
		var entries []map[string]any
		for _, e := range ask.Entries {
			entries = append(entries, map[string]any{"Id": e.ID, "ReceiptHandle": e.ReceiptHandle})
			done = append(done, map[string]any{"Id": e.ID})
		}
		x.body, _ = json.Marshal(map[string]any{"QueueUrl": ask.QueueURL, "Entries": entries})
		out = c.serve(x)
	}
	text, _ := json.Marshal(map[string]any{"Successful": done, "Failed": failed})
	out.Body = bytes.NewBuffer(text)
	return out
}

func copyOf(r *httptest.ResponseRecorder) *httptest.ResponseRecorder {
	out := httptest.NewRecorder()
	maps.Copy(out.Header(), r.Header())
	out.Code, out.Body = r.Code, bytes.NewBuffer(slices.Clone(r.Body.Bytes()))
	return out
}

// withoutHalf leaves every other instance out of a reply, the first included, and tells
// how many those are.
func withoutHalf(body []byte) (less []byte, left int) {
	type span struct{ from, to int64 }
	var items []span
	var path []string
	from, depth := int64(0), 0
	d := xml.NewDecoder(bytes.NewReader(body))
	for {
		at := d.InputOffset()
		token, err := d.Token()
		if err != nil {
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			if t.Name.Local == "item" && len(path) > 0 && path[len(path)-1] == "instancesSet" {
				from, depth = at, len(path)
			}
			path = append(path, t.Name.Local)
		case xml.EndElement:
			path = path[:len(path)-1]
			if depth > 0 && len(path) == depth {
				items = append(items, span{from, d.InputOffset()})
				depth = 0
			}
		}
	}
	end := int64(0)
	for i, s := range items {
		if i%2 == 0 {
			less = append(less, body[end:s.from]...)
			end, left = s.to, left+1
		}
	}
	return append(less, body[end:]...), left
}

func formList(form url.Values, name string) (out []string) {
	for i := 1; form.Has(fmt.Sprintf("%s.%d", name, i)); i++ {
		out = append(out, form.Get(fmt.Sprintf("%s.%d", name, i)))
	}
	return out
}

// A reply is right in part: a fleet brings some of its instances, some of those that are
// to end do, a list lacks instances or is of a while ago. It costs some time at the most.
func TestNoReplyRightInPartLosesAnything(t *testing.T) {
	calls := map[string]int{}
	reportAWS(t, 4, func(_ *testing.T, w *world) {
		w.upAndDown(w.start(setup{}))
		calls = w.running[0].ordeal.counted(asked)
	})
	for _, action := range []string{"CreateFleet", "DeleteMessageBatch", "DescribeInstances", "TerminateInstances"} {
		for _, with := range partTroubles(action) {
			struck := 0
			for nth := 1; nth <= calls[action]; nth += max(1, 4**deaths) {
				t.Run(fmt.Sprintf("%s %d %s", action, nth, with), func(t *testing.T) {
					reportAWS(t, 4, func(_ *testing.T, w *world) {
						w.upAndDown(w.start(setup{aimed: &aim{action: action, nth: nth, with: with}}))
						struck += w.aws.parts.struck
					})
				})
			}
			if struck == 0 && *deaths <= 1 {
				t.Errorf("%s: %s: it never was: what is tested?", action, with)
			}
		}
	}
}

// A list of instances that ends in the middle, since a further page of it does not come, is
// no list: no instance on the other pages counts as gone.
func TestNoPageThatIsMissingLosesAnything(t *testing.T) {
	const instances = 7
	calls := map[string]int{}
	reportAWS(t, 5, func(_ *testing.T, w *world) {
		w.upToAndDown(w.start(setup{}), instances)
		calls = w.running[0].ordeal.counted(asked)
	})
	action := "DescribeInstances" + nextPage
	if calls[action] < 3 {
		t.Fatalf("a further page is asked for %d times: what is tested? %v", calls[action], calls)
	}
	for i, with := range troubles(action) {
		t.Run(string(with), func(t *testing.T) {
			reportAWS(t, 5, func(_ *testing.T, w *world) {
				w.upToAndDown(w.start(setup{aimed: &aim{action: action, nth: 1 + i%calls[action], with: with}}), instances)
			})
		})
	}
}
