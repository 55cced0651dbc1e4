package measured

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
)

// Lab is a lab as its command line shows it.
type Lab struct {
	Program, Dir string
	Out          io.Writer
	Variables    map[string]string // of its lab.env, once it is up
}

// InLab runs what is measured in a lab of its own without a controller, started with the flags.
// Of the lab nothing is left but, where anything failed, its logs, which the error names.
func InLab(ctx context.Context, program string, out io.Writer, flags []string, run func(*Lab) error) error {
	dir, err := os.MkdirTemp("", "daemok-bench-")
	if err != nil {
		return fmt.Errorf("make a folder for the lab: %w", err)
	}
	l := &Lab{Program: program, Dir: dir, Out: out}
	if err = l.up(ctx, flags); err == nil {
		err = run(l)
	}
	if err = errors.Join(err, l.down()); err != nil {
		return errors.Join(err, fmt.Errorf("logs are in %s", filepath.Join(dir, "logs")))
	}
	return os.RemoveAll(dir)
}

func (l *Lab) up(ctx context.Context, flags []string) error {
	if err := l.run(ctx, "up", append([]string{"--detach", "--controller=false"}, flags...)...); err != nil {
		return err
	}
	content, err := os.ReadFile(filepath.Join(l.Dir, "lab.env"))
	if err != nil {
		return fmt.Errorf("read the lab's settings: %w", err)
	}
	l.Variables = exported(string(content))
	return nil
}

// down stops the lab also where ctx of the measurement has ended.
func (l *Lab) down() error { return l.run(context.Background(), "down") }

// Log is the file that the controller of the name writes to.
func (l *Lab) Log(name string) string { return filepath.Join(l.Dir, "logs", name+".log") }

func (l *Lab) run(ctx context.Context, verb string, flags ...string) error {
	cmd := exec.CommandContext(ctx, l.Program, append([]string{verb, "--dir", l.Dir}, flags...)...)
	cmd.Stdout, cmd.Stderr = l.Out, l.Out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s --dir %s: %w", l.Program, verb, l.Dir, err)
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

// Controller is one process of the controller's program.
type Controller struct {
	command *exec.Cmd
	ready   string // URL that answers 200 once the caches are filled
}

// StartController starts the program against the lab, with the rights of the controller's own role.
func StartController(program string, l *Lab, name string) (*Controller, error) {
	ports, err := FreePorts(1)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(l.Log(name))
	if err != nil {
		return nil, fmt.Errorf("make the log of %s: %w", name, err)
	}
	defer log.Close()
	c := &Controller{command: exec.Command(program), ready: fmt.Sprintf("http://127.0.0.1:%d/readyz", ports[0])}
	c.command.Stdout, c.command.Stderr, c.command.Env = log, log, Environment(os.Environ(), variables(l.Variables, name, ports[0]))
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

// PID is its process.
func (c *Controller) PID() int { return c.command.Process.Pid }

// Kill ends it without warning. It may be repeated.
func (c *Controller) Kill() {
	if c.command.ProcessState == nil {
		_ = c.command.Process.Kill() // an error means that it has ended
		_ = c.command.Wait()         // it was killed, and says so
	}
}

// CPUSeconds is the processor time that it took; 0 before Kill.
func (c *Controller) CPUSeconds() float64 {
	if c.command.ProcessState == nil {
		return 0
	}
	return (c.command.ProcessState.UserTime() + c.command.ProcessState.SystemTime()).Seconds()
}

// AwaitReady waits until the controller says that its caches are filled.
func (c *Controller) AwaitReady(ctx context.Context) error {
	const every = 100 * time.Millisecond
	for {
		err := asks(ctx, c.ready)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return fmt.Errorf("the controller is not ready: %w", errors.Join(err, ctx.Err()))
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
