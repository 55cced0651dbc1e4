package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
)

// readTemplate reads a template of Go, as kubectl does.
func readTemplate(text string) (*printers.GoTemplatePrinter, error) {
	p, err := (&genericclioptions.GoTemplatePrintFlags{}).ToPrinter(text)
	if err != nil {
		return nil, fmt.Errorf("%w: write -o go-template='{{.items}}', or go-template-file=FILE", err)
	}
	template, is := p.(*printers.GoTemplatePrinter)
	if !is {
		panic("output: a template of Go makes a printer of another kind")
	}
	return template, nil
}

// writeTemplate prints what a template makes of a value, or nothing where it fails.
func (f *Format) writeTemplate(out io.Writer, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(data, []byte("{")) { // templates are of one object, as kubectl's lists are
		data = fmt.Appendf(nil, `{"items":%s}`, data)
	}
	var made bytes.Buffer // where it fails the printer writes all there is, too
	if err := f.template.PrintObj(shown(data), &made); err != nil {
		return fmt.Errorf("-o %s: %w; -o json shows what there is, and a list is .items", byTemplate, err)
	}
	_, err = made.WriteTo(out)
	return err
}

// shown is JSON as kubectl's printers take it.
type shown []byte

// MarshalJSON is the JSON itself.
func (s shown) MarshalJSON() ([]byte, error) { return s, nil }

// GetObjectKind is of no kind.
func (s shown) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject is another such object.
func (s shown) DeepCopyObject() runtime.Object { return append(shown(nil), s...) }
