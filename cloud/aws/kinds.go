package aws

import (
	"context"
	"errors"
	"slices"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/catalog"
	"github.com/daemok/daemok/cloud/aws/measure"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/price"
	"github.com/daemok/daemok/core/cluster"
)

// ErrNotLearnt says that instance types were not read yet.
var ErrNotLearnt = errors.New("the instance types of the region are not read yet")

// known is what was worked out for one class, and from what.
type known struct {
	digest              nodeclass.Digest
	typesSeq            uint64
	pricesSeq           uint64
	shortSeq            uint64
	riskSeq             uint64
	sizesSeq            uint64
	reservedCapacitySeq uint64
	quotaSeq            uint64
	ipv6                bool
	kinds               *catalog.Kinds
	catalogue           *cluster.Catalogue
}

// Kinds returns what a class can become, with the offerings of the moment. Equal
// content is the same value with the same Revision; revisions are unique in
// the adapter, across classes.
func (p *Provider) Kinds(_ context.Context, class cloud.Class) (*cluster.Catalogue, error) {
	k, err := p.known(class)
	if err != nil {
		return nil, err
	}
	return k.catalogue, nil
}

func (p *Provider) known(class cloud.Class) (*known, error) {
	settings, err := classOf(class)
	if err != nil {
		return nil, err
	}
	digest, err := settings.Digest()
	if err != nil {
		return nil, err
	}
	sizes, now := p.measured.View(), catalog.Market{Prices: p.prices.View(), Short: p.short.View(), Risk: p.risk.View(), ReservedCapacities: p.reserved.View(), Quotas: p.quotas.View(), Free: p.addresses.Free, IPv6: p.cluster.IPv6()}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.typesSeq == 0 {
		return nil, ErrNotLearnt
	}
	k := p.workOut(p.classes[class.ID], digest, settings, now, sizes)
	p.classes[class.ID] = k
	return k, nil
}

// workOut returns what is known about a class now: the old value where
// nothing has changed. The caller holds mu.
func (p *Provider) workOut(old *known, digest nodeclass.Digest, class nodeclass.Class, now catalog.Market, sizes measure.View) *known {
	next := &known{digest: digest, typesSeq: p.typesSeq, pricesSeq: now.Prices.Seq, shortSeq: now.Short.Seq, riskSeq: now.Risk.Seq, sizesSeq: sizes.Seq, reservedCapacitySeq: now.ReservedCapacities.Seq, quotaSeq: now.Quotas.Seq, ipv6: p.cluster.IPv6()}
	sameTypes := old != nil && old.digest == digest && old.typesSeq == p.typesSeq && old.ipv6 == next.ipv6
	sameKinds := sameTypes && old.sizesSeq == next.sizesSeq
	switch {
	case sameKinds && old.pricesSeq == next.pricesSeq && old.shortSeq == next.shortSeq && old.riskSeq == next.riskSeq && old.reservedCapacitySeq == next.reservedCapacitySeq && old.quotaSeq == next.quotaSeq:
		return old
	case sameKinds:
		next.kinds = old.kinds
	default:
		next.kinds = catalog.For(p.types, class, catalog.Settings{
			MemoryOverhead: p.options.MemoryOverhead, ReservedENIs: p.options.ReservedENIs, SurplusCredits: !p.options.NoSurplusCredits, IPv6: next.ipv6, Measured: sizes,
		})
		if sameTypes && sameSizes(old.kinds.InstanceTypes, next.kinds.InstanceTypes) {
			next.kinds, sameKinds = old.kinds, true
		}
	}
	instanceTypes := next.kinds.Offered(class, now)
	if sameKinds && sameOfferings(old.catalogue.InstanceTypes, instanceTypes) {
		next.catalogue = old.catalogue
		return next
	}
	p.revision++
	next.catalogue = &cluster.Catalogue{Revision: p.revision, Disk: price.Volumes(p.Region(), class.Spec.Volumes()), InstanceTypes: instanceTypes}
	return next
}

// sameSizes compares kinds of the same types for the same class, which differ in
// nothing but their memory.
func sameSizes(a, b []cluster.InstanceType) bool {
	return slices.EqualFunc(a, b, func(x, y cluster.InstanceType) bool { return x.Capacity.Memory == y.Capacity.Memory })
}

// sameOfferings compares the offerings of equal instance types; labels follow from the
// rest.
func sameOfferings(a, b []cluster.InstanceType) bool {
	return slices.EqualFunc(a, b, func(x, y cluster.InstanceType) bool {
		return slices.EqualFunc(x.Offerings, y.Offerings, func(o, n cluster.Offering) bool {
			return o.Zone == n.Zone && o.Option == n.Option && o.Price == n.Price && o.Priced == n.Priced && o.Available == n.Available && o.Doubtful == n.Doubtful && o.Why == n.Why && slices.Equal(o.ReservedCapacities, n.ReservedCapacities) && o.Risk == n.Risk
		})
	})
}
