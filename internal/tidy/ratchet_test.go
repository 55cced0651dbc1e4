package tidy

import "testing"

func TestARatchetOnlyFalls(t *testing.T) {
	for name, tt := range map[string]struct {
		known, has map[string]int
		want       string // fragment of the one violation; empty for none
	}{
		"the limit may be reached":                {nil, map[string]int{"a": 30}, ""},
		"one more than all may have":              {nil, map[string]int{"a": 31}, "a has 31 methods, and may have 30: split it"},
		"what was above the limit stays":          {map[string]int{"a": 45}, map[string]int{"a": 45}, ""},
		"it falls by less than a step":            {map[string]int{"a": 45}, map[string]int{"a": 41}, ""},
		"it falls by a step":                      {map[string]int{"a": 45}, map[string]int{"a": 40}, `table allows a 45 methods: it has 40: write "a": 40,`},
		"it falls by more than a step":            {map[string]int{"a": 45}, map[string]int{"a": 32}, `it has 32: write "a": 35,`},
		"it grows":                                {map[string]int{"a": 45}, map[string]int{"a": 46}, "a has 46 methods, and may have 45"},
		"it is mended":                            {map[string]int{"a": 45}, map[string]int{"a": 30}, "it has 30, which all may have: delete its line"},
		"it is gone":                              {map[string]int{"a": 45}, nil, "there is none: delete its line"},
		"what is allowed to one is not to others": {map[string]int{"a": 45}, map[string]int{"a": 45, "b": 31}, "b has 31 methods, and may have 30"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Ratchet{Of: "methods", Most: 30, Known: tt.known, Step: 5, Table: "table", Advice: "split it"}
			oneWith(t, r.Check(tt.has), nil, tt.want)
		})
	}
}
