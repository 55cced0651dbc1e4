package wire

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// Namespaces of the XML answers.
const (
	ec2Namespace = "http://ec2.amazonaws.com/doc/2016-11-15/"
)

// queryNamespaces are those of the services that speak the older query form.
var queryNamespaces = map[string]string{
	IAM:     "https://iam.amazonaws.com/doc/2010-05-08/",
	STS:     "https://sts.amazonaws.com/doc/2011-06-15/",
	Scaling: "http://autoscaling.amazonaws.com/doc/2011-01-01/",
	ELB:     "http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/",
	SQS:     "http://queue.amazonaws.com/doc/2012-11-05/",
}

// SpeaksQuery reports whether a service speaks the older query form, and nothing else.
func SpeaksQuery(service string) bool { return queryNamespaces[service] != "" && service != SQS }

// JSON content types.
const (
	JSON10   = "application/x-amz-json-1.0"
	JSON11   = "application/x-amz-json-1.1"
	RESTJSON = "application/json"
)

// inner marshals the fields of a struct without an outer element.
func inner(body any) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	var b bytes.Buffer
	e := xml.NewEncoder(&b)
	if err := e.EncodeElement(body, xml.StartElement{Name: xml.Name{Local: "r"}}); err != nil {
		return nil, fmt.Errorf("encode answer %T: %w", body, err)
	}
	return bytes.TrimSuffix(bytes.TrimPrefix(b.Bytes(), []byte("<r>")), []byte("</r>")), nil
}

// AnswerEC2 writes an EC2 answer: the fields of body below <ActionResponse>.
// A nil body gives the <return>true</return> of actions that say nothing else.
func AnswerEC2(w http.ResponseWriter, action, requestID string, body any) error {
	fields, err := inner(body)
	if err != nil {
		return err
	}
	if body == nil {
		fields = []byte("<return>true</return>")
	}
	writeXML(w, http.StatusOK, requestID,
		fmt.Appendf(nil, `<%sResponse xmlns="%s"><requestId>%s</requestId>`, action, ec2Namespace, requestID), fields, fmt.Appendf(nil, `</%sResponse>`, action))
	return nil
}

// AnswerQuery writes an answer in the older query form: the fields of body below
// <ActionResult>. A nil body leaves the result out.
func AnswerQuery(w http.ResponseWriter, service, action, requestID string, body any) error {
	fields, err := inner(body)
	if err != nil {
		return err
	}
	result := ""
	if body != nil {
		result = fmt.Sprintf("<%[1]sResult>%[2]s</%[1]sResult>", action, fields)
	}
	writeXML(w, http.StatusOK, requestID, fmt.Appendf(nil,
		`<%[1]sResponse xmlns="%[2]s">%[3]s<ResponseMetadata><RequestId>%[4]s</RequestId></ResponseMetadata></%[1]sResponse>`,
		action, queryNamespaces[service], result, requestID))
	return nil
}

// AnswerJSON writes a JSON answer of the given content type.
func AnswerJSON(w http.ResponseWriter, contentType, requestID string, body any) error {
	if body == nil {
		body = struct{}{}
	}
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode answer %T: %w", body, err)
	}
	writeJSON(w, http.StatusOK, contentType, requestID, data)
	return nil
}

// RefuseEC2 writes an error as EC2 does.
func RefuseEC2(w http.ResponseWriter, requestID string, e *Error) {
	writeXML(w, e.HTTPStatus(), requestID, fmt.Appendf(nil,
		`<Response><Errors><Error><Code>%s</Code><Message>%s</Message></Error></Errors><RequestID>%s</RequestID></Response>`,
		escape(e.Code), escape(e.Message), requestID))
}

// RefuseQuery writes an error as services with the older query form do.
func RefuseQuery(w http.ResponseWriter, service, requestID string, e *Error) {
	writeXML(w, e.HTTPStatus(), requestID, fmt.Appendf(nil,
		`<ErrorResponse xmlns="%s"><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>%s</RequestId></ErrorResponse>`,
		queryNamespaces[service], escape(e.Code), escape(e.Message), requestID))
}

// RefuseJSON writes an error as the JSON services do. queryCode is the code of
// the service's older query protocol, sent as a header where not empty.
func RefuseJSON(w http.ResponseWriter, contentType, requestID string, e *Error, queryCode string) {
	if queryCode != "" {
		w.Header().Set("X-Amzn-Query-Error", queryCode+";Sender")
	}
	if contentType == RESTJSON {
		w.Header().Set("X-Amzn-ErrorType", e.Code)
	}
	data, err := json.Marshal(map[string]string{"__type": e.Code, "message": e.Message})
	if err != nil {
		panic("a map of strings does not encode: " + err.Error())
	}
	writeJSON(w, e.HTTPStatus(), contentType, requestID, data)
}

// restXML are services that speak XML where others that name their actions by method and
// path speak JSON.
var restXML = []string{"cloudfront", "route53", "s3"}

// RefuseElsewhere writes an error to a client of a service that has no protocol here, in
// the one that its request speaks, so that the client can read it.
func RefuseElsewhere(w http.ResponseWriter, r *http.Request, service, requestID string, e *Error) {
	switch kind := r.Header.Get("Content-Type"); {
	case r.Header.Get("X-Amz-Target") != "":
		RefuseJSON(w, kind, requestID, e, "")
	case IsForm(r):
		RefuseQuery(w, service, requestID, e)
	case slices.Contains(restXML, service):
		writeXML(w, e.HTTPStatus(), requestID, fmt.Appendf(nil, `<Error><Code>%s</Code><Message>%s</Message><RequestId>%s</RequestId></Error>`,
			escape(e.Code), escape(e.Message), requestID))
	default:
		RefuseJSON(w, RESTJSON, requestID, e, "")
	}
}

// IsForm reports whether a request has a form for its body, as those of query protocols have.
func IsForm(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded")
}

func escape(text string) string {
	var b bytes.Buffer
	if err := xml.EscapeText(&b, []byte(text)); err != nil {
		panic("writing to a buffer failed: " + err.Error())
	}
	return b.String()
}

// writeXML and writeJSON ignore write errors: the client has gone away then,
// and there is none left to tell.
func writeXML(w http.ResponseWriter, status int, requestID string, parts ...[]byte) {
	w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
	w.Header().Set("X-Amzn-Requestid", requestID)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, xml.Header)
	for _, p := range parts {
		_, _ = w.Write(p)
	}
}

func writeJSON(w http.ResponseWriter, status int, contentType, requestID string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Amzn-Requestid", requestID)
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
