package webcmd

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/ui/page"
	"github.com/daemok/daemok/ui/view"
	"github.com/daemok/daemok/ui/web"
	"github.com/daemok/daemok/ui/web/browser/example"
)

// a follows an example, and b connects to a cluster without objects.
func a(context.Context, *inspect.Target, bool) (view.Source, error) {
	return example.New(time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC), 3, 3), nil
}

func b(*inspect.Target) (client.Client, error) { return fake.NewClientBuilder().Build(), nil }

// c makes a plan that does nothing.
func c(context.Context, *inspect.Target) (page.Page, error) {
	return page.Page{Title: "Plan: nothing to do"}, nil
}

func TestTheAddressThatIsPrintedOpensThePages(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	out, in := io.Pipe()
	cmd := Command(a, b, c)
	cmd.SetArgs([]string{"--cluster-name", "prod"})
	cmd.SetOut(in)
	ended := make(chan error, 1)
	go func() { ended <- cmd.ExecuteContext(ctx) }()

	lines := bufio.NewScanner(out)
	lines.Scan()
	address := lines.Text()
	go func() { _, _ = io.Copy(io.Discard, out) }()
	if !strings.HasPrefix(address, "http://127.0.0.1:") || !strings.Contains(address, "/?token=") {
		t.Fatalf("it printed %q, want an address with a token", address)
	}
	jar, _ := cookiejar.New(nil) // it has no error without options
	browser := &http.Client{Jar: jar}
	base, _, _ := strings.Cut(address, "/?")
	for _, step := range []struct{ url, want string }{
		{address, "<title>Daemok</title>"}, {base + "/facts", `"title":"prod"`},
		{base + "/about/node/ip-10-0-0-1", `"record":[]`},
		{base + "/plan", "Plan: nothing to do"}, {base + "/costs", "What pods request too much is not known"},
	} {
		if body := get(t, browser, step.url); !strings.Contains(body, step.want) {
			t.Errorf("%s: got %q, want %q in it", step.url, body, step.want)
		}
	}
	if body := get(t, http.DefaultClient, base+"/facts"); !strings.Contains(body, "other users of this host") {
		t.Errorf("without the token: got %q", body)
	}
	interrupt()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// A listener that fails is reported, though nothing has interrupted the command.
func TestItEndsWhereNothingCanBeAcceptedAnyMore(t *testing.T) {
	to, err := open("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	to.Close()
	o := web.Options{Source: example.New(time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC), 3, 3)}
	if err := serve(t.Context(), to, o, io.Discard); err == nil || !strings.Contains(err.Error(), "serve the pages") {
		t.Errorf("it ended with %v", err)
	}
}

func get(t *testing.T, browser *http.Client, url string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestItServesThisComputerAlone(t *testing.T) {
	for listen, want := range map[string]string{
		"0.0.0.0:0": "want an address of this computer alone", ":8080": "want an address of this computer alone",
		"10.0.0.1:80": "docs/tasks/web.md", "8080": "want an address and a port", "127.0.0.1:99999": "port 0 finds a free one",
	} {
		cmd := Command(a, b, c)
		cmd.SetArgs([]string{"--listen", listen})
		cmd.SilenceUsage, cmd.SilenceErrors = true, true
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--listen %s: got %v, want %q in it", listen, err, want)
		}
	}
}
