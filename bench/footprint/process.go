package footprint

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/daemok/daemok/bench/measured"
	"github.com/daemok/daemok/internal/pause"
)

// saysFirstPlan is in the line that the controller logs with its first plan.
const saysFirstPlan = `"made the first plan"`

// scrapeEvery is how often metrics are read, as Prometheus does by default.
const scrapeEvery = time.Minute

// controller is the program as it runs.
type controller struct {
	cmd     *exec.Cmd
	log     string // file of its log
	metrics string // URL
	began   time.Time
	planned chan time.Time
	ended   chan struct{} // closed
	reading sync.WaitGroup
	err     error // with which it ended
}

// run starts the program with these variables. It ends with ctx.
func run(ctx context.Context, program, log string, port int, variables map[string]string) (*controller, error) {
	c := &controller{log: log, metrics: fmt.Sprintf("http://127.0.0.1:%d/metrics", port),
		planned: make(chan time.Time, 1), ended: make(chan struct{})}
	c.cmd = exec.CommandContext(ctx, program)
	c.cmd.Env = measured.Environment(os.Environ(), variables)
	out, err := os.Create(filepath.Clean(log))
	if err != nil {
		return nil, err
	}
	lines, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.cmd.Stderr = out
	c.began = time.Now()
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	c.reading.Go(func() {
		defer out.Close()
		for all := bufio.NewReader(lines); ; {
			line, err := all.ReadBytes('\n')
			if bytes.Contains(line, []byte(saysFirstPlan)) {
				c.planned <- time.Now()
			}
			_, _ = out.Write(line)
			if err != nil {
				break
			}
		}
		c.err = c.cmd.Wait()
		close(c.ended)
	})
	return c, nil
}

func (c *controller) died() error {
	c.reading.Wait()
	text, _ := os.ReadFile(c.log)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	last := strings.Join(lines[max(0, len(lines)-5):], "\n")
	if c.err == nil {
		return fmt.Errorf("the controller ended; its last lines:\n%s", last)
	}
	return fmt.Errorf("the controller ended: %w; its last lines:\n%s", c.err, last)
}

func (c *controller) firstPlan(ctx context.Context) (time.Duration, error) {
	select {
	case at := <-c.planned:
		return at.Sub(c.began), nil
	case <-c.ended:
		return 0, c.died()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (c *controller) wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-c.ended:
		return c.died()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end asks the program to end, and waits until it has.
func (c *controller) end() error {
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return nil //nolint:nilerr // it has ended already
	}
	c.reading.Wait()
	return nil
}

// scrape reads all metrics as Prometheus does.
func (c *controller) scrape(ctx context.Context) {
	for {
		ask, err := http.NewRequestWithContext(ctx, http.MethodGet, c.metrics, nil)
		if err != nil {
			return
		}
		if answer, err := http.DefaultClient.Do(ask); err == nil {
			_, _ = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
		}
		select {
		case <-c.ended:
			return
		default:
		}
		if pause.For(ctx, scrapeEvery) != nil {
			return
		}
	}
}

// ticksPerSecond is the unit in which Linux reports processor time, on every platform that Go runs on.
const ticksPerSecond = 100

// cpu is the processor time that the process has taken since its start.
func (c *controller) cpu() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read the controller's processor time: %w", err)
	}
	const user, system = 11, 12 // behind the name, which is in parentheses
	words := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	ticks := 0
	for _, at := range []int{user, system} {
		n, err := strconv.Atoi(words[at])
		if err != nil {
			return 0, fmt.Errorf("read the controller's processor time in %q: %w", text, err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}

// memory reads what the process holds of the host's memory now.
func (c *controller) memory(into *Result) error {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	if err != nil {
		return fmt.Errorf("read the controller's memory: %w", err)
	}
	for field, to := range map[string]*float64{"VmRSS": &into.RSSMiB, "RssAnon": &into.RSSAnonMiB, "RssFile": &into.RSSFileMiB, "VmHWM": &into.RSSPeakMiB} {
		_, rest, _ := strings.Cut(string(text), field+":")
		var kib float64
		if _, err := fmt.Sscanf(rest, "%g kB", &kib); err != nil {
			return fmt.Errorf("read %s of the controller: %w", field, err)
		}
		*to = rounded(kib/1024, 10)
	}
	return nil
}
