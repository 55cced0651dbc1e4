package demand

import (
	"github.com/daemok/daemok/core/topology"
	"slices"
)

// Begin makes the level one for a question, with these rules.
func (lv *Level) Begin(rules *topology.Rules, firstLaunch int) {
	lv.Asked = lv.Asked && slices.Equal(lv.fixed, rules.Fixed())
	lv.Rules, lv.fixed = rules, rules.Fixed()
	lv.Followers, lv.Led, lv.Crowd = nil, false, 0
	lv.Allowed = lv.Allowed[:min(len(lv.Allowed), firstLaunch)]
}
