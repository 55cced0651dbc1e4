package plancmd

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// followed is a plan that is followed, in virtual time, while a test rewrites its situation.
type followed struct {
	t           *testing.T
	file        string
	out, errors bytes.Buffer // what was printed since the last look
	end         func() error // interrupts it
}

// follow runs the test beside `daemok plan --watch` with these arguments.
func follow(t *testing.T, args []string, test func(f *followed)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &followed{t: t, file: filepath.Join(t.TempDir(), "situation.txt")}
		f.situation("")
		cmd := New(Cluster{})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetOut(&f.out)
		cmd.SetErr(&f.errors)
		cmd.SetArgs(append([]string{"--snapshot", f.file, "--watch"}, args...))
		ctx, interrupt := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- cmd.ExecuteContext(ctx) }()
		f.end = func() error { interrupt(); return <-ended }
		synctest.Wait()
		test(f)
		interrupt()
	})
}

// situation writes the situation with lines more.
func (f *followed) situation(more string) {
	f.t.Helper()
	text, err := os.ReadFile(situationFile)
	if err != nil {
		f.t.Fatal(err)
	}
	f.write(string(text) + more)
}

func (f *followed) write(text string) {
	f.t.Helper()
	if err := os.WriteFile(f.file, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// prints checks what is printed while so much time goes by, which has the words in this order; without any, nothing is.
func (f *followed) prints(in time.Duration, words ...string) {
	f.t.Helper()
	time.Sleep(in)
	synctest.Wait()
	rest := f.out.String() + f.errors.String()
	if len(words) == 0 && rest != "" {
		f.t.Errorf("nothing has changed, and it prints\n%s", rest)
	}
	for _, w := range words {
		_, after, is := strings.Cut(rest, w)
		if !is {
			f.t.Fatalf("it prints\n%s%s\nwant %q, in the order of %q", &f.out, &f.errors, w, words)
		}
		rest = after
	}
	f.out.Reset()
	f.errors.Reset()
}

const thirdPod = "waiting default/api-1 shape=web\n"

// A plan is printed again when it is another, and only then, behind a line where no terminal can be cleared.
func TestAPlanIsFollowed(t *testing.T) {
	follow(t, nil, func(f *followed) {
		f.prints(0, "at 2026-11-21T04:00:00Z\nPlan: +1 launched. All 2 pending pods get a place.")
		f.prints(time.Hour)
		f.situation(thirdPod)
		f.prints(9 * time.Second)
		f.prints(time.Second, strings.Repeat("-", 78)+"\nat 2026-11-21T04:00:00Z\nPlan:",
			"All 3 pending pods get a place")
		if err := f.end(); err != nil {
			t.Errorf("its user has ended it, and it fails: %v", err)
		}
	})
}

// What cannot be read for a while is said once; the plan is printed when it can be read again, changed or not.
func TestAPlanIsFollowedThroughTrouble(t *testing.T) {
	follow(t, []string{"--watch-interval", "5s"}, func(f *followed) {
		f.prints(0, "Plan: +1 launched")
		f.write("nonsense \x1b[2J\n")
		f.prints(5*time.Second, "read the situation in "+f.file+": line 1:", "; reading again every 5s\n")
		f.prints(time.Minute)
		f.situation("")
		f.prints(5*time.Second, "-----\nat ", "Plan: +1 launched")
		f.prints(time.Minute)
	})
}

// A situation that cannot be read at first is an error: its name may be wrong.
func TestAPlanIsNotFollowedWithoutABeginning(t *testing.T) {
	if _, err := run(t, "plan", "--snapshot", "testdata/none.txt",
		"--watch"); err == nil || !strings.Contains(err.Error(), "read the situation") {
		t.Errorf("plan --watch of nothing = %v", err)
	}
}

// Scripts get one object after the other, and nothing between.
func TestAPlanIsFollowedByScripts(t *testing.T) {
	follow(t, []string{"-o", "name"}, func(f *followed) {
		f.prints(0, "nodeclaim.karpenter.sh/")
		f.situation("shape big namespace=default cpu=1 memory=1Gi\nwaiting default/big-1 shape=big\n")
		f.prints(10*time.Second, "nodeclaim.karpenter.sh/")
		if strings.Contains(f.out.String(), "---") || strings.Contains(f.out.String(), "at ") {
			t.Errorf("between objects is\n%s", &f.out)
		}
	})
}
