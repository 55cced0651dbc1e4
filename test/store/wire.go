package store

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// codecs write objects as a client wants them.
type codecs struct{ serializer.CodecFactory }

func newCodecs(of *runtime.Scheme) codecs { return codecs{serializer.NewCodecFactory(of)} }

// answering is the form of an answer.
type answering struct{ info *runtime.SerializerInfo }

func (c codecs) plain() answering {
	info, _ := runtime.SerializerInfoForMediaType(c.SupportedMediaTypes(), runtime.ContentTypeJSON)
	return answering{&info}
}

// negotiate takes the first form that the client accepts and that there is.
func (c codecs) negotiate(accept string) (out answering, metadataOnly bool, err error) {
	for _, one := range strings.Split(accept, ",") {
		media, how, err := mime.ParseMediaType(strings.TrimSpace(one))
		if err != nil {
			continue
		}
		as := how["as"]
		if info, known := runtime.SerializerInfoForMediaType(c.SupportedMediaTypes(), media); known && (as == "" || strings.HasPrefix(as, "PartialObjectMetadata")) {
			return answering{&info}, as != "", nil
		}
	}
	if accept == "" || strings.Contains(accept, "*/*") {
		return c.plain(), false, nil
	}
	return out, false, apierrors.NewGenericServerResponse(http.StatusNotAcceptable, "", schema.GroupResource{}, "", "none of "+accept+" is served here", 0, true)
}

// shallow is a copy of an object's outermost fields: encoders write its kind and version there.
func shallow(o runtime.Object) runtime.Object {
	out := reflect.New(reflect.TypeOf(o).Elem())
	out.Elem().Set(reflect.ValueOf(o).Elem())
	return out.Interface().(runtime.Object)
}

func (c codecs) write(w http.ResponseWriter, as answering, code int, o runtime.Object, of schema.GroupVersion) error {
	var text bytes.Buffer
	if err := c.WithoutConversion().EncoderForVersion(as.info.Serializer, of).Encode(shallow(o), &text); err != nil {
		return fmt.Errorf("encode %T: %w", o, err)
	}
	w.Header().Set("Content-Type", as.info.MediaType)
	w.WriteHeader(code)
	_, _ = w.Write(text.Bytes()) // the caller has gone otherwise
	return nil
}

// frames writes the events of one watch.
type frames struct {
	objects, events runtime.Encoder
	to              interface{ Write([]byte) (int, error) }
}

func (f frames) write(what watch.EventType, o runtime.Object) error {
	var text bytes.Buffer
	if err := f.objects.Encode(shallow(o), &text); err != nil {
		return fmt.Errorf("encode %T: %w", o, err)
	}
	return f.events.Encode(&metav1.WatchEvent{Type: string(what), Object: runtime.RawExtension{Raw: text.Bytes()}}, f.to)
}

var eventTypes = map[change]watch.EventType{added: watch.Added, modified: watch.Modified, deleted: watch.Deleted}

// watch sends all objects first where the client asks for it, or names no version; then
// of every change, until the client goes.
func (h *served) watch(w http.ResponseWriter, a *asked) error {
	if a.metadataOnly {
		return apierrors.NewBadRequest("watches of metadata alone are not served here")
	}
	have, stream := h.server.watch(a.kind)
	defer h.server.unwatch(stream)
	asksForAll := a.URL.Query().Get("sendInitialEvents") == "true"
	all := asksForAll || a.atVersion == "" || a.atVersion == "0"
	if seen, _ := strconv.ParseUint(a.atVersion, 10, 64); !all && seen < stream.changed {
		return apierrors.NewResourceExpired(fmt.Sprintf("version %s is gone: %s changed since", a.atVersion, a.kind.Kind))
	}
	info := a.answer.info
	if info.StreamSerializer == nil {
		return apierrors.NewBadRequest(info.MediaType + " has no streams")
	}
	out := frames{
		objects: h.codecs.WithoutConversion().EncoderForVersion(info.Serializer, a.kind.GroupVersion()),
		events:  h.codecs.WithoutConversion().EncoderForVersion(info.StreamSerializer.Serializer, a.kind.GroupVersion()),
		to:      info.StreamSerializer.Framer.NewFrameWriter(w),
	}
	w.Header().Set("Content-Type", info.MediaType+";stream=watch")
	w.WriteHeader(http.StatusOK)
	if all {
		if err := h.initial(out, a, have, asksForAll, stream.began); err != nil {
			return nil //nolint:nilerr // the client has gone
		}
	}
	for {
		if err := http.NewResponseController(w).Flush(); err != nil {
			return nil //nolint:nilerr // likewise
		}
		e, more := stream.next(a.Context())
		if !more {
			return nil
		}
		if a.chooses(e.object) && out.write(eventTypes[e.what], e.object) != nil {
			return nil
		}
	}
}

func (h *served) initial(out frames, a *asked, have []client.Object, mark bool, at uint64) error {
	for _, o := range have {
		if !a.chooses(o) {
			continue
		}
		if err := out.write(watch.Added, o); err != nil {
			return err
		}
	}
	if !mark {
		return nil
	}
	o, err := h.server.scheme.New(a.kind)
	if err != nil {
		return err
	}
	end := o.(client.Object)
	end.SetResourceVersion(strconv.FormatUint(at, 10))
	end.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	return out.write(watch.Bookmark, end)
}
