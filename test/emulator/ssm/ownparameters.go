package ssm

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/daemok/daemok/test/emulator/wire"
)

// Limits of SSM on parameters of an account's own.
const (
	parameterBytesMax = 4096
	parameterNameMax  = 1011
	parameterLevels   = 15
)

var (
	parameterName  = regexp.MustCompile(`^[a-zA-Z0-9_.\-/]+$`)
	parameterKinds = []string{"String", "StringList", "SecureString"}
)

// putParameter makes a parameter, or gives one that is there its next value. Secrets are kept as
// they are: the emulator has no keys.
func putParameter(c *call) (any, error) {
	var in struct {
		Name, Value, Type, DataType string
		Overwrite                   bool
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	st := c.server
	before, there := st.Parameters[in.Name]
	if err := checkParameter(in.Name, in.Value, cmp.Or(in.Type, before.Kind), in.DataType); err != nil {
		return nil, err
	}
	if there && !in.Overwrite {
		return nil, wire.Errorf("ParameterAlreadyExists", "The parameter already exists. To overwrite this value, set the overwrite option in the request to true.")
	}
	p := before.Next(in.Value, c.At)
	p.Own, p.Kind, p.Data = true, cmp.Or(in.Type, before.Kind), cmp.Or(in.DataType, before.Data)
	st.Parameters[in.Name] = p
	return map[string]any{"Version": p.Version, "Tier": "Standard"}, nil
}

func checkParameter(name, value, kind, data string) error {
	bare := strings.ToLower(strings.TrimPrefix(name, "/"))
	switch {
	case strings.HasPrefix(bare, "aws") || strings.HasPrefix(bare, "ssm"):
		return wire.Errorf("ValidationException", "Parameter name: can't be prefixed with \"aws\" or \"ssm\" (case-insensitive).")
	case !parameterName.MatchString(name) || len(name) > parameterNameMax:
		return wire.Errorf("ValidationException", "Parameter name must be a fully qualified name. Only a mix of letters, numbers and the following 3 symbols .-_ are allowed.")
	case strings.Contains(name, "/") && !strings.HasPrefix(name, "/"):
		return wire.Errorf("ValidationException", "Parameter name must be a fully qualified name.")
	case strings.Count(name, "/") > parameterLevels:
		return wire.Errorf("HierarchyLevelLimitExceededException", "A hierarchy can have a maximum of %d levels.", parameterLevels)
	case value == "" || len(value) > parameterBytesMax:
		return wire.Errorf("ValidationException", "Standard tier parameters support a maximum parameter value of %d characters, and one at least.", parameterBytesMax)
	case kind == "":
		return wire.Errorf("ValidationException", "A parameter type is required when you create a parameter.")
	case !slices.Contains(parameterKinds, kind):
		return wire.Errorf("ValidationException", "Value '%s' at 'type' must be one of %s", kind, strings.Join(parameterKinds, ", "))
	case !slices.Contains([]string{"", "text", "aws:ec2:image"}, data):
		return wire.Errorf("ValidationException", "The emulator has parameters of data type text and aws:ec2:image, not %s", data)
	}
	return nil
}

// deleteParameter deletes one of the account's own.
func deleteParameter(c *call) (any, error) {
	var in struct{ Name string }
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	if !c.server.Parameters[in.Name].Own {
		return nil, wire.Errorf("ParameterNotFound", "Parameter %s not found.", in.Name)
	}
	delete(c.server.Parameters, in.Name)
	return nil, nil
}

// deleteParameters deletes those of the account's own, and names the others.
func deleteParameters(c *call) (any, error) {
	var in struct{ Names []string }
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	if err := checkNames(in.Names); err != nil {
		return nil, err
	}
	deleted, invalid := []string{}, []string{}
	for _, name := range in.Names {
		if !c.server.Parameters[name].Own {
			invalid = append(invalid, name)
			continue
		}
		delete(c.server.Parameters, name)
		deleted = append(deleted, name)
	}
	return map[string]any{"DeletedParameters": deleted, "InvalidParameters": invalid}, nil
}
