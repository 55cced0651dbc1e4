package up

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"strconv"
	"time"

	"github.com/daemok/daemok/lab/directory"
)

const keptFile = "lab.json"

// Ports are taken from below the range that systems hand out for outgoing
// connections, so that none sits on a port of ours while a server restarts.
const (
	portMin   = 20000
	portMax   = 32000
	portTries = 100
	portWait  = 10 * time.Second
	portEvery = 50 * time.Millisecond
)

// Identity is what a lab keeps for as long as its directory exists: clients
// and machines hold on to it.
type Identity struct {
	Region      string
	ClusterName string
	EKSVersion  string
	Seed        *uint64
	Tags        map[string]string
	Ports       Ports
}

// Ports of a lab on the loopback address; 0 is not chosen yet.
type Ports struct {
	API, AWS, Usage, ControllerMetrics, ControllerHealth int
}

// resolve returns who the lab in the directory is: as it was before, or as
// wanted when it is new; empty fields of wanted ask for what was before or for
// the default. Wanting another identity than the kept one is an error.
func resolve(d directory.Directory, wanted Identity) (Identity, error) {
	var kept Identity
	found, err := d.Load(keptFile, &kept)
	if err != nil {
		return Identity{}, err
	}
	if !found {
		return wanted.withDefaults(), nil
	}
	if err := kept.agrees(wanted, d.Root()); err != nil {
		return Identity{}, err
	}
	kept.Ports.API = cmp.Or(wanted.Ports.API, kept.Ports.API)
	return kept, nil
}

func (i Identity) withDefaults() Identity {
	i.Region = cmp.Or(i.Region, "us-east-1")
	i.ClusterName = cmp.Or(i.ClusterName, "lab")
	i.EKSVersion = cmp.Or(i.EKSVersion, "1.36")
	if i.Seed == nil {
		i.Seed = new(uint64(1))
	}
	i.Tags = maps.Clone(i.Tags)
	return i
}

// agrees returns an error for the first setting that was asked for and differs.
func (i Identity) agrees(wanted Identity, root string) error {
	differs := func(flag, kept, asked string) error {
		return fmt.Errorf("the lab in %s was made with --%s %s, not %s: leave the flag out, remove the directory or choose another --dir",
			root, flag, kept, asked)
	}
	for _, s := range []struct{ flag, kept, asked string }{
		{"region", i.Region, wanted.Region},
		{"cluster-name", i.ClusterName, wanted.ClusterName},
		{"eks-version", i.EKSVersion, wanted.EKSVersion},
	} {
		if s.asked != "" && s.asked != s.kept {
			return differs(s.flag, s.kept, s.asked)
		}
	}
	if wanted.Seed != nil && *wanted.Seed != *i.Seed {
		return differs("seed", fmt.Sprint(*i.Seed), fmt.Sprint(*wanted.Seed))
	}
	if wanted.Tags != nil && !maps.Equal(wanted.Tags, i.Tags) {
		return differs("tag", fmt.Sprint(i.Tags), fmt.Sprint(wanted.Tags))
	}
	return nil
}

// choosePorts fills in the ports that are not chosen yet and checks that those
// of before are free. A port of ours may be busy for a moment after a crash.
func choosePorts(p *Ports) error {
	for _, port := range []*int{&p.API, &p.AWS, &p.Usage, &p.ControllerMetrics, &p.ControllerHealth} {
		if *port == 0 {
			free, err := freePort()
			if err != nil {
				return err
			}
			*port = free
			continue
		}
		if err := awaitFree(*port); err != nil {
			return err
		}
	}
	return nil
}

func freePort() (int, error) {
	var last error
	for range portTries {
		port := portMin + rand.IntN(portMax-portMin)
		if last = tryPort(port); last == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("find a free port between %d and %d: %w", portMin, portMax, last)
}

func awaitFree(port int) error {
	deadline := time.Now().Add(portWait)
	for {
		err := tryPort(port)
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("port %d of this lab is taken by another program: stop that, or remove the lab's directory: %w", port, err)
		}
		time.Sleep(portEvery)
	}
}

func tryPort(port int) error {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	return l.Close()
}
