package up

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"time"
)

// Ports are taken from below the range that systems hand out for outgoing
// connections, so that none sits on a port of ours while a server restarts.
const (
	portMin   = 20000
	portMax   = 32000
	portTries = 100
	portWait  = time.Minute
	portEvery = 50 * time.Millisecond
)

// Ports of a lab on the loopback address; 0 is not chosen yet.
type Ports struct {
	API, AWS, AWSControl, Usage, ControllerMetrics, ControllerHealth, PodIdentity, PodIdentityAgent int
}

func (p *Ports) all() []*int {
	return []*int{&p.API, &p.AWS, &p.AWSControl, &p.Usage, &p.ControllerMetrics, &p.ControllerHealth, &p.PodIdentity, &p.PodIdentityAgent}
}

// reservation keeps other labs off the ports of this one from their choice
// until the lab stops: the API server listens seconds after its port was
// chosen, and leaves it whenever it restarts. What is held for a port is a
// socket of the kernel with the port's name, which no file stands for and
// which ends with this process. The zero value holds nothing.
type reservation struct {
	mu   sync.Mutex // guards held
	held []net.Listener
}

// choose fills in the ports that are not chosen yet and waits for those of
// before, which may be busy for a moment after a crash. All of them are held
// when it succeeds.
func (r *reservation) choose(p *Ports) error {
	for _, port := range p.all() { // those of before first: none may be given away
		if *port != 0 {
			if err := r.await(*port); err != nil {
				return err
			}
		}
	}
	for _, port := range p.all() {
		if *port == 0 {
			free, err := r.any()
			if err != nil {
				return err
			}
			*port = free
		}
	}
	return nil
}

func (r *reservation) any() (int, error) {
	var last error
	for range portTries {
		port := portMin + rand.IntN(portMax-portMin)
		if last = r.take(port); last == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("find a free port between %d and %d: %w", portMin, portMax, last)
}

func (r *reservation) await(port int) error {
	deadline := time.Now().Add(portWait)
	for {
		err := r.take(port)
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("port %d of this lab is taken by another program: stop that, or remove the lab's directory: %w", port, err)
		}
		time.Sleep(portEvery)
	}
}

// take holds a port that no lab holds and no program listens on.
func (r *reservation) take(port int) error {
	number := strconv.Itoa(port)
	held, err := net.Listen("unix", "@daemok-lab-port-"+number)
	if err != nil {
		return fmt.Errorf("another lab holds the port: %w", err)
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", number))
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		return errors.Join(err, held.Close())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = append(r.held, held)
	return nil
}

// release gives the ports up for others.
func (r *reservation) release() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, l := range r.held {
		errs = append(errs, l.Close())
	}
	r.held = nil
	return errors.Join(errs...)
}
