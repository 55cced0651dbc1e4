{{/* The name in labels. That of a release called like Karpenter's is karpenter: the selector of a Deployment
     cannot be changed, so the release can be upgraded from Karpenter's chart to this one. */}}
{{- define "daemok.name" -}}
{{- $own := ternary "karpenter" .Chart.Name (contains "karpenter" .Release.Name) -}}
{{- .Values.nameOverride | default $own | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* The name of all objects. */}}
{{- define "daemok.fullname" -}}
{{- $name := include "daemok.name" . -}}
{{- $usual := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- .Values.fullnameOverride | default $usual | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "daemok.serviceAccountName" -}}
{{- $usual := ternary (include "daemok.fullname" .) "default" .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default $usual -}}
{{- end -}}

{{- define "daemok.selectorLabels" -}}
app.kubernetes.io/name: {{ include "daemok.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "daemok.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "daemok.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{/* The metadata of an object: of root, with a name and, where they are given, a namespace, and labels and annotations of its own. */}}
{{- define "daemok.metadata" -}}
name: {{ .name }}
{{- with .namespace }}
namespace: {{ . }}
{{- end }}
labels:
  {{- mustMergeOverwrite (.root.Values.additionalLabels | default dict | deepCopy) (include "daemok.labels" .root | fromYaml) (.labels | default dict) | toYaml | nindent 2 }}
{{- with mustMergeOverwrite (.root.Values.additionalAnnotations | default dict | deepCopy) (.annotations | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "daemok.image" -}}
{{- with .Values.controller.image -}}
{{- if .digest -}}
{{ .repository }}{{ with .tag }}:{{ . }}{{ end }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}
