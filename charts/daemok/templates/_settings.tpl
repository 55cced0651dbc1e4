{{/* The text of the value at the dotted path: nothing where it is not set. Texts may be templates. */}}
{{- define "daemok.text" -}}
{{- $value := .root.Values -}}
{{- range splitList "." .path -}}
{{- if kindIs "map" $value -}}{{- $value = index $value . -}}{{- else -}}{{- $value = "" -}}{{- end -}}
{{- end -}}
{{- if typeIs "string" $value -}}{{- tpl $value .root -}}
{{- else if kindIs "slice" $value -}}{{- join "," $value -}}
{{- else if not (kindIs "invalid" $value) -}}{{- toJson $value -}}
{{- end -}}
{{- end -}}

{{/* The text of the entry of files/options.yaml: that of its value or, where it is not set, of an older name. Names that disagree fail. */}}
{{- define "daemok.option" -}}
{{- $text := "" -}}{{- $from := "" -}}
{{- range concat (list .option.value) (.option.old | default list) | compact -}}
{{- $other := include "daemok.text" (dict "root" $.root "path" .) -}}
{{- if and $text $other (ne $text $other) -}}
{{- fail (printf "%s is %q and %s is %q: they mean the same, set %s alone" $from $text . $other $from) -}}
{{- end -}}
{{- if and $other (not $text) -}}{{- $text = $other -}}{{- $from = . -}}{{- end -}}
{{- end -}}
{{- get (.option.words | default dict) $text | default $text -}}
{{- end -}}

{{/* The controller's environment, as a YAML list: what controller.env sets goes before the rest. */}}
{{- define "daemok.env" -}}
{{- $options := .Files.Get "files/options.yaml" | fromYaml -}}
{{- $env := list
  (dict "name" "SYSTEM_NAMESPACE" "valueFrom" (dict "fieldRef" (dict "fieldPath" "metadata.namespace")))
  (dict "name" "POD_NAME" "valueFrom" (dict "fieldRef" (dict "fieldPath" "metadata.name")))
  (dict "name" "KARPENTER_SERVICE" "value" (include "daemok.fullname" .))
  (dict "name" "CPU_REQUESTS" "valueFrom" (dict "resourceFieldRef" (dict "containerName" .Values.controller.containerName "divisor" "1m" "resource" "requests.cpu")))
  (dict "name" "MEMORY_LIMIT" "valueFrom" (dict "resourceFieldRef" (dict "containerName" .Values.controller.containerName "divisor" "0" "resource" "limits.memory"))) -}}
{{- range $options.variables -}}
{{- $text := include "daemok.option" (dict "root" $ "option" .) -}}
{{- if $text -}}{{- $env = append $env (dict "name" .name "value" $text) -}}{{- end -}}
{{- end -}}
{{- range $options.gates -}}
{{- $switches := list -}}
{{- range .gates -}}
{{- $text := include "daemok.option" (dict "root" $ "option" .) -}}
{{- if $text -}}{{- $switches = append $switches (printf "%s=%s" .name $text) -}}{{- end -}}
{{- end -}}
{{- if $switches -}}{{- $env = append $env (dict "name" .name "value" (join "," $switches)) -}}{{- end -}}
{{- end -}}
{{- $given := list -}}
{{- range .Values.controller.env -}}{{- $given = append $given .name -}}{{- end -}}
{{- $all := list -}}
{{- range $env -}}{{- if not (has .name $given) -}}{{- $all = append $all . -}}{{- end -}}{{- end -}}
{{- concat $all (.Values.controller.env | default list) | toYaml -}}
{{- end -}}

{{/* The data of ConfigMap karpenter-global-settings, as YAML: nothing where no value asks for it. */}}
{{- define "daemok.globalSettings" -}}
{{- $data := dict -}}
{{- range (.Files.Get "files/options.yaml" | fromYaml).configMap -}}
{{- $text := include "daemok.option" (dict "root" $ "option" .) -}}
{{- if $text -}}{{- $_ := set $data .name $text -}}{{- end -}}
{{- end -}}
{{- if $data -}}{{- toYaml $data -}}{{- end -}}
{{- end -}}

{{/* One line for each value of an older chart that is set, with what stands in its place. */}}
{{- define "daemok.old" -}}
{{- $options := .Files.Get "files/options.yaml" | fromYaml -}}
{{- $entries := $options.variables -}}
{{- range $options.gates -}}{{- $entries = concat $entries .gates -}}{{- end -}}
{{- range concat $entries $options.configMap -}}
{{- $instead := printf "use %s" (.instead | default .value) -}}
{{- with .why -}}{{- $instead = printf "remove it, it changes nothing: %s" . -}}{{- end -}}
{{- range .old -}}
{{- if include "daemok.text" (dict "root" $ "path" .) }}
{{ printf "  %s: %s" . $instead }}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $options.ignored -}}
{{- if include "daemok.text" (dict "root" $ "path" .old) }}
{{ printf "  %s: remove it, it changes nothing: %s" .old .why }}
{{- end -}}
{{- end -}}
{{- end -}}
