package terraform

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"sigs.k8s.io/yaml"
)

// functions are those of Terraform that do not depend on time or chance. Of those that read
// files there are file and templatefile, which take names from a folder.
func functions(folder string) map[string]function.Function {
	all := pure()
	all["file"] = ofText(func(name string) (string, error) {
		data, err := readFile(folder, name)
		return string(data), err
	})
	all["templatefile"] = templateFile(folder)
	return all
}

// pure are the functions whose arguments are all that they know.
func pure() map[string]function.Function {
	return map[string]function.Function{
		"abs": stdlib.AbsoluteFunc, "ceil": stdlib.CeilFunc, "chomp": stdlib.ChompFunc, "chunklist": stdlib.ChunklistFunc, "coalesce": stdlib.CoalesceFunc,
		"coalescelist": stdlib.CoalesceListFunc, "compact": stdlib.CompactFunc, "concat": stdlib.ConcatFunc, "contains": stdlib.ContainsFunc,
		"csvdecode": stdlib.CSVDecodeFunc, "formatdate": stdlib.FormatDateFunc, "log": stdlib.LogFunc, "signum": stdlib.SignumFunc, "strrev": stdlib.ReverseFunc,
		"timeadd": stdlib.TimeAddFunc, "startswith": ofTexts(strings.HasPrefix), "endswith": ofTexts(strings.HasSuffix), "strcontains": ofTexts(strings.Contains),
		"distinct": stdlib.DistinctFunc, "element": stdlib.ElementFunc, "flatten": stdlib.FlattenFunc, "floor": stdlib.FloorFunc, "format": stdlib.FormatFunc,
		"formatlist": stdlib.FormatListFunc, "indent": stdlib.IndentFunc, "join": stdlib.JoinFunc, "jsondecode": stdlib.JSONDecodeFunc, "jsonencode": stdlib.JSONEncodeFunc,
		"keys": stdlib.KeysFunc, "length": length(), "lookup": lookup(), "lower": stdlib.LowerFunc, "max": stdlib.MaxFunc, "merge": stdlib.MergeFunc,
		"min": stdlib.MinFunc, "parseint": stdlib.ParseIntFunc, "pow": stdlib.PowFunc, "range": stdlib.RangeFunc, "regex": stdlib.RegexFunc, "regexall": stdlib.RegexAllFunc,
		"replace": stdlib.ReplaceFunc, "reverse": stdlib.ReverseListFunc, "setintersection": stdlib.SetIntersectionFunc, "setproduct": stdlib.SetProductFunc,
		"setsubtract": stdlib.SetSubtractFunc, "setunion": stdlib.SetUnionFunc, "slice": stdlib.SliceFunc, "sort": stdlib.SortFunc, "split": stdlib.SplitFunc,
		"substr": stdlib.SubstrFunc, "title": stdlib.TitleFunc, "trim": stdlib.TrimFunc, "trimprefix": stdlib.TrimPrefixFunc, "trimspace": stdlib.TrimSpaceFunc,
		"trimsuffix": stdlib.TrimSuffixFunc, "upper": stdlib.UpperFunc, "values": stdlib.ValuesFunc, "zipmap": stdlib.ZipmapFunc,
		"tostring": stdlib.MakeToFunc(cty.String), "tonumber": stdlib.MakeToFunc(cty.Number), "tobool": stdlib.MakeToFunc(cty.Bool),
		"tolist": stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)), "toset": stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)),
		"tomap": stdlib.MakeToFunc(cty.Map(cty.DynamicPseudoType)), "try": tryfunc.TryFunc, "can": tryfunc.CanFunc,
		"yamlencode": yamlEncode(), "yamldecode": yamlDecode(),
		"base64encode": ofText(func(s string) (string, error) { return base64.StdEncoding.EncodeToString([]byte(s)), nil }),
		"base64decode": ofText(func(s string) (string, error) {
			data, err := base64.StdEncoding.DecodeString(s)
			return string(data), err
		}),
	}
}

// ofText is a function of a text to a text.
func ofText(do func(string) (string, error)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "str", Type: cty.String}}, Type: function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			out, err := do(args[0].AsString())
			return cty.StringVal(out), err
		},
	})
}

// ofTexts is a question about two texts.
func ofTexts(ask func(s, other string) bool) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "string", Type: cty.String}, {Name: "other", Type: cty.String}}, Type: function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.BoolVal(ask(args[0].AsString(), args[1].AsString())), nil
		},
	})
}

// length is of texts too, as Terraform has it.
func length() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowDynamicType: true}}, Type: function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if args[0].Type() == cty.String {
				return stdlib.Strlen(args[0])
			}
			return stdlib.Length(args[0])
		},
	})
}

// lookup may go without a default, as Terraform has it.
func lookup() function.Function {
	return function.New(&function.Spec{
		Params:   []function.Parameter{{Name: "map", Type: cty.DynamicPseudoType}, {Name: "key", Type: cty.String}},
		VarParam: &function.Parameter{Name: "default", Type: cty.DynamicPseudoType, AllowNull: true}, Type: function.StaticReturnType(cty.DynamicPseudoType),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if kind := args[0].Type(); !kind.IsObjectType() && !kind.IsMapType() {
				return cty.NilVal, errors.New("the first argument is no map")
			}
			if v, has := args[0].AsValueMap()[args[1].AsString()]; has {
				return v, nil
			}
			if len(args) < 3 {
				return cty.NilVal, fmt.Errorf("the map has no key %q", args[1].AsString())
			}
			return args[2], nil
		},
	})
}

// yamlEncode makes YAML that means the same as what Terraform's own makes.
func yamlEncode() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowDynamicType: true, AllowNull: true}}, Type: function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if !args[0].IsWhollyKnown() {
				return cty.UnknownVal(cty.String), nil
			}
			data, err := ctyjson.Marshal(args[0], args[0].Type())
			if err != nil {
				return cty.NilVal, err
			}
			text, err := yaml.JSONToYAML(data)
			return cty.StringVal(string(text)), err
		},
	})
}

// yamlDecode reads one document.
func yamlDecode() function.Function {
	read := func(text cty.Value) (cty.Value, error) {
		data, err := yaml.YAMLToJSON([]byte(text.AsString()))
		if err != nil {
			return cty.NilVal, fmt.Errorf("this is no YAML: %w", err)
		}
		kind, err := ctyjson.ImpliedType(data)
		if err != nil {
			return cty.NilVal, err
		}
		return ctyjson.Unmarshal(data, kind)
	}
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "src", Type: cty.String}},
		Type: func(args []cty.Value) (cty.Type, error) {
			if !args[0].IsKnown() {
				return cty.DynamicPseudoType, nil
			}
			v, err := read(args[0])
			return v.Type(), err
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return read(args[0]) },
	})
}
