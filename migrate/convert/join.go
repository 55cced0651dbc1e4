package convert

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// join gives every pool its class: the settings of kubelets stand there now, so pools
// that share a class and differ in them get one each.
func (c *converter) join() *Result {
	c.pools = slices.DeleteFunc(c.pools, func(p *pool) bool { return p.from.refused() })
	c.classes = slices.DeleteFunc(c.classes, func(k *class) bool { return k.from.refused() })
	slices.SortStableFunc(c.pools, func(a, b *pool) int { return cmp.Compare(a.out.Name, b.out.Name) })
	c.renameOlder()
	c.renameInline()
	given := c.classes
	for _, k := range given {
		c.part(k, c.poolsOf(k))
	}
	for _, p := range c.pools {
		if p.out.Spec.Template.Spec.NodeClassRef.Kind == "EC2NodeClass" {
			continue
		}
		p.refer(p.class)
		if p.kubelet != nil {
			p.from.note(Refuses, p.field, "belongs into EC2NodeClass %s, whose older manifest is not among these, or is refused: give it too", p.class)
		} else {
			p.from.note(Changes, "spec", "its EC2NodeClass %s is not made of these manifests: convert its older manifest too", p.class)
		}
	}
	c.pools = slices.DeleteFunc(c.pools, func(p *pool) bool { return p.from.refused() })
	return c.finish()
}

// renameOlder gives a class that is made of a template another name where there is a newer
// class of its own, as both generations may have the same names.
func (c *converter) renameOlder() {
	for _, k := range c.classes {
		name := k.out.Name
		if !k.older || k.inline || !slices.ContainsFunc(c.classes, func(o *class) bool { return !o.older && o.out.Name == name }) {
			continue
		}
		k.out.Name = c.free(name + "-template")
		k.from.note(Changes, "metadata.name", "the EC2NodeClass is called %s, since there is one called %s", k.out.Name, name)
		for _, p := range c.pools {
			if p.older && !p.inline && p.class == name {
				p.class = k.out.Name
				p.from.note(Changes, "spec", "its EC2NodeClass is %s, since there is another called %s", k.out.Name, name)
			}
		}
	}
}

// renameInline gives a class of a Provisioner's own another name where a template has it.
func (c *converter) renameInline() {
	for _, k := range c.classes {
		name := k.out.Name
		if !k.inline || !slices.ContainsFunc(c.classes, func(o *class) bool { return !o.inline && o.out.Name == name }) {
			continue
		}
		k.out.Name = c.free(name + "-inline")
		k.from.note(Changes, "spec.provider", "the EC2NodeClass is called %s, since %s is made of a manifest of that name", k.out.Name, name)
		for _, p := range c.pools {
			if p.from == k.from {
				p.class = k.out.Name
			}
		}
	}
}

// free is the name, or the name with dashes after it that no class has.
func (c *converter) free(name string) string {
	for slices.ContainsFunc(c.classes, func(k *class) bool { return k.out.Name == name }) {
		name += "-x"
	}
	return name
}

func (c *converter) poolsOf(k *class) []*pool {
	var out []*pool
	for _, p := range c.pools {
		if p.class == k.out.Name && p.inline == k.inline && (!k.inline || p.from == k.from) {
			out = append(out, p)
		}
	}
	return out
}

// part makes as many classes of one as its pools have different kubelets. The first keeps
// the name: that of pools that say nothing, or else of the pool whose name comes first.
func (c *converter) part(k *class, pools []*pool) {
	family := k.out.Family()
	dense := func(kubelet *awsv1.Kubelet) *awsv1.Kubelet { return kubelet }
	if k.older && c.settings != nil && c.settings.dense {
		dense = atMost110
	}
	stands := false // a pool has the class as it is
	groups := map[string][]*pool{}
	var keys []string
	for _, p := range pools {
		if p.out.Spec.Template.Spec.NodeClassRef.Kind == "EC2NodeClass" && p.kubelet == nil && !k.older {
			stands = true
			continue
		}
		p.kubelet = dense(fitted(p.from, p.field, p.kubelet, family))
		key := keyOf(p.kubelet)
		if groups[key] == nil {
			keys = append(keys, key)
		}
		groups[key] = append(groups[key], p)
	}
	silent := keyOf(dense(nil))
	if i := slices.Index(keys, silent); i > 0 {
		keys = slices.Insert(slices.Delete(keys, i, i+1), 0, silent)
	}
	if len(keys) == 0 && k.older {
		k.out.Spec.Kubelet = dense(k.out.Spec.Kubelet)
	}
	whole := k.out.DeepCopy()
	for i, key := range keys {
		at := k
		if keeps := i == 0 && !stands || key == silent || key == keyOf(k.out.Spec.Kubelet); !keeps {
			first := groups[key][0]
			at = &class{from: k.from, out: whole.DeepCopy(), older: k.older, inline: k.inline}
			at.out.Name = c.free(whole.Name + "-" + first.out.Name)
			c.classes = append(c.classes, at)
			k.from.note(Changes, "", "EC2NodeClass %s has the kubelet of %s: it differs from that of others that share %s", at.out.Name, first.from.entry.Object, k.from.entry.Object)
		}
		if kubelet := groups[key][0].kubelet; kubelet != nil {
			at.out.Spec.Kubelet = kubelet
		}
		for _, p := range groups[key] {
			if p.refer(at.out.Name); at != k {
				p.from.note(Changes, "spec", "its EC2NodeClass is %s, for its kubelet differs from that of others", at.out.Name)
			}
		}
	}
}

func (p *pool) refer(name string) {
	p.out.Spec.Template.Spec.NodeClassRef = karpv1.NodeClassReference{Group: api.GroupAWS, Kind: "EC2NodeClass", Name: name}
}

// atMost110 is how many pods nodes had where networks were not counted.
func atMost110(k *awsv1.Kubelet) *awsv1.Kubelet {
	if k != nil && k.MaxPods != nil {
		return k
	}
	out := &awsv1.Kubelet{}
	if k != nil {
		out = k.DeepCopy()
	}
	out.MaxPods = new(intstr.FromInt32(110))
	return out
}
