package control

import (
	"context"
	"fmt"
	"time"

	"github.com/daemok/daemok/internal/orders"
)

// Client gives orders to an emulator.
type Client struct{ orders *orders.Client }

// At returns a client for the control port at a URL.
func At(url string) *Client { return &Client{orders.At(url)} }

// Status asks how the account is.
func (c *Client) Status(ctx context.Context) (s Status, err error) {
	if err := c.orders.Ask(ctx, pathStatus, &s); err != nil {
		return s, fmt.Errorf("read the state of the emulator: %w", err)
	}
	return s, nil
}

// Ice takes capacity away or restores it, and returns how many pools that changed.
func (c *Client) Ice(ctx context.Context, order Ice) (pools int, err error) {
	err = c.give(ctx, "change capacity", pathIce, order, &pools)
	return pools, err
}

// Price sets prices and returns how many pools that changed.
func (c *Client) Price(ctx context.Context, order Price) (pools int, err error) {
	err = c.give(ctx, "change prices", pathPrice, order, &pools)
	return pools, err
}

// Throttle changes how often actions may be called and returns their names.
func (c *Client) Throttle(ctx context.Context, order Throttle) (actions []string, err error) {
	err = c.give(ctx, "change request limits", pathThrottle, order, &actions)
	return actions, err
}

// Outage cuts a zone off, or ends that, and returns how many instances that concerns.
func (c *Client) Outage(ctx context.Context, order Outage) (instances int, err error) {
	err = c.give(ctx, "change the state of zone "+order.Zone, pathOutage, order, &instances)
	return instances, err
}

// Fault has calls fail, or ends that, and returns how many faults of the action there are now.
func (c *Client) Fault(ctx context.Context, order Fault) (faults int, err error) {
	err = c.give(ctx, "change faults", pathFault, order, &faults)
	return faults, err
}

// Rights takes rights away or gives them back, and returns the actions concerned.
func (c *Client) Rights(ctx context.Context, order Rights) (actions []string, err error) {
	err = c.give(ctx, "change rights", pathRights, order, &actions)
	return actions, err
}

// Quota limits vCPUs and returns the quota's name.
func (c *Client) Quota(ctx context.Context, order Quota) (name string, err error) {
	err = c.give(ctx, "change quota", pathQuota, order, &name)
	return name, err
}

// Forward puts the clocks of AWS forward and returns the time there.
func (c *Client) Forward(ctx context.Context, d time.Duration) (now time.Time, err error) {
	err = c.give(ctx, "move the clock forward", pathClock, Clock{d}, &now)
	return now, err
}

// Skew has AWS judge dates of its callers by a clock that is so far ahead, and returns how far it is.
func (c *Client) Skew(ctx context.Context, by time.Duration) (is time.Duration, err error) {
	err = c.give(ctx, "skew the clock", pathSkew, Skew{by}, &is)
	return is, err
}

// InterruptionMessage has AWS say something of instances, and returns those.
func (c *Client) InterruptionMessage(ctx context.Context, order InterruptionMessage) (about []Instance, err error) {
	err = c.give(ctx, string(order.Deed), pathInterruptionMessage, order, &about)
	return about, err
}

// Reserve puts a capacity reservation into the account and returns its ID.
func (c *Client) Reserve(ctx context.Context, order Reserve) (id string, err error) {
	err = c.give(ctx, "reserve capacity", pathReserve, order, &id)
	return id, err
}

// Reclaim takes capacity of an interruptible reservation back, and returns the instances that are warned.
func (c *Client) Reclaim(ctx context.Context, order Reclaim) (warned []Instance, err error) {
	err = c.give(ctx, "reclaim capacity", pathReclaim, order, &warned)
	return warned, err
}

// ReservedInstances puts Reserved Instances into the account and returns their ID.
func (c *Client) ReservedInstances(ctx context.Context, order ReservedInstances) (id string, err error) {
	err = c.give(ctx, "add Reserved Instances", pathReservedInstances, order, &id)
	return id, err
}

// SavingsPlan puts a Savings Plan into the account and returns its ID.
func (c *Client) SavingsPlan(ctx context.Context, order SavingsPlan) (id string, err error) {
	err = c.give(ctx, "add a Savings Plan", pathSavingsPlan, order, &id)
	return id, err
}

// Shift begins a zonal shift, or ends those of a zone, and returns how many that ended.
func (c *Client) Shift(ctx context.Context, order Shift) (ended int, err error) {
	err = c.give(ctx, "shift traffic away from zone "+order.Zone, pathShift, order, &ended)
	return ended, err
}

// Refuse has launches refused, or ends that, and returns how many pools that changed.
func (c *Client) Refuse(ctx context.Context, order Refuse) (pools int, err error) {
	err = c.give(ctx, "refuse launches", pathRefuse, order, &pools)
	return pools, err
}

// Boots settles what becomes of instances that are launched from now on.
func (c *Client) Boots(ctx context.Context, order Boots) error {
	return c.give(ctx, "change how instances boot", pathBoots, order, &struct{}{})
}

// Update begins to update the cluster's version and returns when that ends.
func (c *Client) Update(ctx context.Context, order Update) (ends time.Time, err error) {
	err = c.give(ctx, "update the cluster to version "+order.Version, pathUpdate, order, &ends)
	return ends, err
}

func (c *Client) give(ctx context.Context, what, path string, order, outcome any) error {
	if err := c.orders.Give(ctx, path, order, outcome); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
