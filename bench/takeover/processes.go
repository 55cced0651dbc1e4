package takeover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/daemok/daemok/bench/measured"
)

// lab is a lab as its command line shows it.
type lab struct {
	program, dir string
	out          io.Writer
	variables    map[string]string // of its lab.env
}

func (l *lab) up(ctx context.Context) error {
	if err := l.run(ctx, "up", "--detach", "--controller=false", "--time-scale=0"); err != nil {
		return err
	}
	content, err := os.ReadFile(filepath.Join(l.dir, "lab.env"))
	if err != nil {
		return fmt.Errorf("read the lab's settings: %w", err)
	}
	l.variables = exported(string(content))
	return nil
}

// down stops the lab also where ctx of the measurement has ended.
func (l *lab) down() error { return l.run(context.Background(), "down") }

func (l *lab) run(ctx context.Context, verb string, flags ...string) error {
	cmd := exec.CommandContext(ctx, l.program, append([]string{verb, "--dir", l.dir}, flags...)...)
	cmd.Stdout, cmd.Stderr = l.out, l.out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s --dir %s: %w", l.program, verb, l.dir, err)
	}
	return nil
}

// exported reads lines such as export NAME='VALUE'.
func exported(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "="); ok {
			all[name] = strings.Trim(value, "'")
		}
	}
	return all
}

// controller is one process of the program.
type controller struct {
	command *exec.Cmd
	ready   string // URL that answers 200 once the caches are filled
}

func startController(program string, l *lab, name string) (*controller, error) {
	ports, err := measured.FreePorts(1)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(l.dir, "logs", name+".log"))
	if err != nil {
		return nil, fmt.Errorf("make the log of %s: %w", name, err)
	}
	defer log.Close()
	c := &controller{command: exec.Command(program), ready: fmt.Sprintf("http://127.0.0.1:%d/readyz", ports[0])}
	c.command.Stdout, c.command.Stderr, c.command.Env = log, log, measured.Environment(os.Environ(), variables(l.variables, name, ports[0]))
	if err := c.command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	return c, nil
}

// variables point a controller at the lab, with the rights of the controller's own role.
func variables(lab map[string]string, name string, port int) map[string]string {
	all := maps.Clone(lab)
	all["KUBECONFIG"], all["AWS_ACCESS_KEY_ID"] = lab["CONTROLLER_KUBECONFIG"], lab["CONTROLLER_AWS_ACCESS_KEY_ID"]
	all["SYSTEM_NAMESPACE"], all["POD_NAME"], all["METRICS_PORT"], all["HEALTH_PROBE_PORT"] = "kube-system", name, "0", strconv.Itoa(port)
	return all
}

func (c *controller) pid() int { return c.command.Process.Pid }

// kill ends it without warning. It may be repeated.
func (c *controller) kill() {
	if c.command.ProcessState == nil {
		_ = c.command.Process.Kill() // an error means that it has ended
		_ = c.command.Wait()         // it was killed, and says so
	}
}

// awaitReady waits until the controller says that its caches are filled.
func (c *controller) awaitReady(ctx context.Context) error {
	const every = 100 * time.Millisecond
	for {
		err := asks(ctx, c.ready)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return fmt.Errorf("the standby is not ready: %w", errors.Join(err, ctx.Err()))
		}
	}
}

func asks(ctx context.Context, url string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, answer.Status)
	}
	return nil
}
