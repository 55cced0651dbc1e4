{{/* The affinity of the pods: terms about pods get the pods' own labels where they have no selector, terms about
     nodes keep off nodes that the controller may delete where they do not speak of them. */}}
{{- define "daemok.affinity" -}}
{{- $affinity := .Values.affinity | default dict | deepCopy -}}
{{- $selector := dict "matchLabels" (include "daemok.selectorLabels" . | fromYaml) -}}
{{- range pick $affinity "podAffinity" "podAntiAffinity" -}}
{{- with . -}}
{{- range .requiredDuringSchedulingIgnoredDuringExecution -}}
{{- if not .labelSelector -}}{{- $_ := set . "labelSelector" $selector -}}{{- end -}}
{{- end -}}
{{- range .preferredDuringSchedulingIgnoredDuringExecution -}}
{{- if and .podAffinityTerm (not .podAffinityTerm.labelSelector) -}}{{- $_ := set .podAffinityTerm "labelSelector" $selector -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $node := $affinity.nodeAffinity | default dict -}}
{{- $required := $node.requiredDuringSchedulingIgnoredDuringExecution | default (dict "nodeSelectorTerms" (list dict)) -}}
{{- range $term := $required.nodeSelectorTerms -}}
{{- $expressions := .matchExpressions | default list -}}
{{- range $key := list "karpenter.sh/nodepool" "karpenter.sh/provisioner-name" -}}
{{- $speaks := false -}}
{{- range $expressions -}}{{- if eq .key $key -}}{{- $speaks = true -}}{{- end -}}{{- end -}}
{{- if not $speaks -}}{{- $expressions = append $expressions (dict "key" $key "operator" "DoesNotExist") -}}{{- end -}}
{{- end -}}
{{- $_ := set $term "matchExpressions" $expressions -}}
{{- end -}}
{{- $_ := set $node "requiredDuringSchedulingIgnoredDuringExecution" $required -}}
{{- $_ := set $affinity "nodeAffinity" $node -}}
{{- toYaml $affinity -}}
{{- end -}}

{{- define "daemok.topologySpread" -}}
{{- $spread := .Values.topologySpreadConstraints | default list | deepCopy -}}
{{- range $spread -}}
{{- if not .labelSelector -}}{{- $_ := set . "labelSelector" (dict "matchLabels" (include "daemok.selectorLabels" $ | fromYaml)) -}}{{- end -}}
{{- end -}}
{{- if $spread -}}{{- toYaml $spread -}}{{- end -}}
{{- end -}}

{{- define "daemok.securityContext" -}}
{{- $fixed := dict
  "runAsNonRoot" true "runAsUser" 65532 "runAsGroup" 65532
  "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true
  "capabilities" (dict "drop" (list "ALL"))
  "seccompProfile" (dict "type" "RuntimeDefault") -}}
{{- range $key, $value := .Values.controller.securityContext -}}
{{- if not (has (toJson $value) (list "null" "{}")) -}}{{- $_ := set $fixed $key $value -}}{{- end -}}
{{- end -}}
{{- toYaml $fixed -}}
{{- end -}}
