package up

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/cloud/aws/rights"
	"github.com/daemok/daemok/deploy/aws"
	"github.com/daemok/daemok/lab/cluster"
	"github.com/daemok/daemok/lab/directory"
	"github.com/daemok/daemok/test/emulator"
	awscontrol "github.com/daemok/daemok/test/emulator/control"
	"github.com/daemok/daemok/test/emulator/world"
)

// zonesMax is how many zones of a region the emulated account uses.
const zonesMax = 4

// keepEvery is how much of the cloud's past a killed lab may lose.
const keepEvery = 250 * time.Millisecond

// cloud is the emulated account, kept on disk.
type cloud struct {
	*emulator.Server
	file     string
	imported bool          // it goes on from an earlier lab
	touched  chan struct{} // holds a value when something may have changed
	stop     context.CancelFunc
	running  sync.WaitGroup
}

func loopback(port int) string { return "http://127.0.0.1:" + strconv.Itoa(port) }

// startCloud opens the account as it was kept, or again, and answers calls.
// Time does not yet pass in it.
func (l *Lab) startCloud(context.Context) error {
	c := &cloud{file: l.directory.Cloud(), touched: make(chan struct{}, 1)}
	ca := string(l.access.Authority.CertificatePEM())
	c.Server = emulator.New(world.Options{
		Account: world.Account{
			Region: l.identity.Region, ClusterName: l.identity.ClusterName, EKSVersion: l.identity.EKSVersion,
			Endpoint: l.access.URL(), CA: ca, ServiceCIDR: cluster.ServiceCIDR, Tags: l.identity.Tags,
		},
		Seed: *l.identity.Seed, TimeScale: l.options.TimeScale,
	})
	if err := c.load(); err != nil {
		return err
	}
	c.SetClusterEndpoint(l.access.URL(), ca)
	if err := c.restrict(); err != nil {
		return err
	}
	log, err := l.closers.openLog(l.directory.Log("aws"))
	if err != nil {
		return err
	}
	l.cloud = c
	l.closers.add(c.end)
	if err := l.closers.serve("AWS", l.identity.Ports.AWS, &http.Server{Handler: logged(log, c.noting())}); err != nil {
		return err
	}
	return l.closers.serve("orders to AWS", l.identity.Ports.AWSControl, &http.Server{Handler: awscontrol.Handler(c.Server, c.touch)})
}

// load takes over what an earlier lab kept.
func (c *cloud) load() error {
	content, err := os.ReadFile(c.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = c.Import(content)
	}
	if err != nil {
		return fmt.Errorf("go on with the cloud kept in %s: %w", c.file, err)
	}
	c.imported = true
	return nil
}

// controllerKey is the access key of the controller, whose role's policies decide on its calls.
const controllerKey = "LABCONTROLLERLABCONT"

// controllerRole is the name of the controller's role.
func controllerRole(cluster string) string { return cluster + "-karpenter" }

// restrict leaves the controller the rights of the policies in deploy/aws, for nodes of any role and
// images of any parameter. A lab that has policies keeps those: its user may have changed them.
func (c *cloud) restrict() error {
	a := c.Account()
	role := controllerRole(a.ClusterName)
	scope := rights.Scope{Partition: "aws", Account: a.ID, Region: a.Region, Cluster: a.ClusterName, Features: rights.Features()}
	scope.NodeRoles, scope.Parameters = []string{scope.RoleARN("*")}, []string{scope.ParameterARN("*")}
	scope.Queue = aws.Queue(scope.Partition, a.Region, a.ID, a.ClusterName)
	if !c.HasPolicies(role) {
		for _, p := range rights.Parts(scope) {
			if err := c.Attach(role, aws.PolicyName(p.Name, a.ClusterName), p.Document().JSON()); err != nil {
				return fmt.Errorf("give the controller's role its policies: %w", err)
			}
		}
	}
	c.Enforce(controllerKey, role)
	return nil
}

// noting answers calls, after each of which the account may have changed.
func (c *cloud) noting() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.ServeHTTP(w, r)
		c.touch()
	})
}

func (c *cloud) touch() {
	select {
	case c.touched <- struct{}{}:
	default:
	}
}

// run lets time pass in the account and keeps it on disk, until end.
func (c *cloud) run(say func(string, ...any)) {
	ctx, cancel := context.WithCancel(context.Background())
	c.stop = cancel
	c.Watch(func(emulator.Event) { c.touch() })
	c.running.Go(func() { c.Run(ctx) })
	c.running.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-c.touched:
			}
			if err := c.keep(); err != nil {
				say("%v", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(keepEvery):
			}
		}
	})
}

func (c *cloud) keep() error {
	content, err := c.Export()
	if err == nil {
		err = directory.WriteFile(c.file, content)
	}
	if err != nil {
		return fmt.Errorf("keep the cloud: %w", err)
	}
	return nil
}

// end stops time and keeps the account a last time.
func (c *cloud) end() error {
	c.Close()
	if c.stop == nil {
		return nil
	}
	c.stop()
	c.running.Wait()
	return c.keep()
}

// zones returns the zones that the account has subnets in, or an error for a
// region that the catalogue does not know.
func zones(region string) ([]string, error) {
	catalogue := ec2data.Load()
	var names []string
	for _, z := range catalogue.Zones(region) {
		names = append(names, z.Name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no region %q in the catalogue: choose one of %s", region, strings.Join(catalogue.RegionNames(), ", "))
	}
	return names[:min(len(names), zonesMax)], nil
}
