{{/* What no schema can say: values that do not exist, with the nearest that does, and values that contradict each other. */}}
{{- define "daemok.checks" -}}
{{- $wrong := concat (include "daemok.unknown" . | splitList "\n") (include "daemok.contradictions" . | splitList "\n") (eq (include "daemok.text" (dict "root" . "path" "shadow.enabled")) "true" | ternary "" (include "daemok.others" .) | splitList "\n") | compact -}}
{{- if $wrong -}}{{- fail (printf "\n%s" (join "\n" $wrong)) -}}{{- end -}}
{{- end -}}

{{/* `helm get values` without --output prints a title above the values, which is a key where they are handed on. */}}
{{- define "daemok.unknown" -}}
{{- $known := .Files.Get "files/values.yaml" | fromYaml -}}
{{- $options := .Files.Get "files/options.yaml" | fromYaml -}}
{{- range concat $options.variables $options.configMap -}}{{- range .old -}}{{- $_ := set $known . "old" -}}{{- end -}}{{- end -}}
{{- include "daemok.unknownIn" (dict "values" (omit .Values "global" "USER-SUPPLIED VALUES") "at" "" "known" $known) -}}
{{- end -}}

{{/* One line for each key of values, a map that is at the dotted path, that is no value. A map of free keys is "open", a value of older charts "old". */}}
{{- define "daemok.unknownIn" -}}
{{- range $key, $value := .values -}}
{{- $path := printf "%s%s" $.at $key -}}
{{- $is := index $.known $path -}}
{{- if not $is }}
{{ printf "%s is not a value of this chart%s" $path (include "daemok.didYouMean" (dict "path" $path "known" $.known)) }}
{{- else if and (eq $is "closed") (kindIs "map" $value) -}}
{{- include "daemok.unknownIn" (dict "values" $value "at" (printf "%s." $path) "known" $.known) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The known value whose last word differs from that of path by the fewest letters, a third of it at most: one of the same parent, else
     of another where the word is long enough to say something, and one of older charts last. */}}
{{- define "daemok.didYouMean" -}}
{{- $words := splitList "." .path -}}
{{- $parent := initial $words | join "." -}}
{{- $siblings := list -}}{{- $others := list -}}{{- $old := list -}}
{{- range $path, $is := .known -}}
{{- if eq $parent (splitList "." $path | initial | join ".") -}}{{- $siblings = append $siblings $path -}}
{{- else if eq $is "old" -}}{{- $old = append $old $path -}}
{{- else -}}{{- $others = append $others $path -}}
{{- end -}}
{{- end -}}
{{- $best := include "daemok.nearest" (dict "word" (last $words) "paths" $siblings) -}}
{{- range list $others $old -}}
{{- if and (not $best) (gt (len (last $words)) 7) -}}{{- $best = include "daemok.nearest" (dict "word" (last $words) "paths" .) -}}{{- end -}}
{{- end -}}
{{- with $best -}}; did you mean {{ . }}?{{- end -}}
{{- end -}}

{{- define "daemok.nearest" -}}
{{- $letters := splitList "" .word -}}
{{- $least := add1 (max 1 (div (len .word) 3)) -}}
{{- $best := "" -}}
{{- range $path := .paths -}}
{{- $other := splitList "." $path | last -}}
{{- $missing := 0 -}}
{{- range $letters -}}{{- if not (contains . $other) -}}{{- $missing = add1 $missing -}}{{- end -}}{{- end -}}
{{- $longer := sub (len $other) (len $letters) -}}
{{- if and (lt $missing $least) (lt (max $longer (sub 0 $longer)) $least) -}}
{{- $distance := include "daemok.distance" (dict "a" $letters "b" $other) | int64 -}}
{{- if lt $distance $least -}}{{- $least = $distance -}}{{- $best = $path -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- $best -}}
{{- end -}}

{{/* How many letters have to be added, removed or changed to make word b of the letters a. */}}
{{- define "daemok.distance" -}}
{{- $b := splitList "" .b -}}
{{- $row := until (int (add1 (len $b))) -}}
{{- range $i, $x := .a -}}
{{- $next := list (add1 $i) -}}
{{- range $j, $y := $b -}}
{{- $change := add (index $row $j) (ternary 0 1 (eq $x $y)) -}}
{{- $next = append $next (min $change (add1 (index $row (add1 $j))) (add1 (index $next $j))) -}}
{{- end -}}
{{- $row = $next -}}
{{- end -}}
{{- last $row -}}
{{- end -}}

{{/* Controllers under other names that run in the cluster, a line each: two would act at once. Nothing where no cluster is asked.
     One may be of this very release, as Karpenter's chart called it. */}}
{{- define "daemok.others" -}}
{{- $name := include "daemok.fullname" . -}}
{{- range (lookup "apps/v1" "Deployment" "" "").items -}}
{{- $deployment := . -}}
{{- if and (ne (printf "%s/%s" .metadata.namespace .metadata.name) (printf "%s/%s" $.Release.Namespace $name)) (gt (int .spec.replicas) 0) -}}
{{- range .spec.template.spec.containers -}}
{{- $env := dict -}}
{{- range .env -}}{{- $_ := set $env .name true -}}{{- end -}}
{{- if or $env.KARPENTER_SERVICE (regexMatch "(^|/)(daemok-controller|karpenter/controller)([:@]|$)" .image) }}
{{- $labels := $deployment.metadata.labels | default dict -}}
{{- if eq (printf "%s/%s" $deployment.metadata.namespace (index $labels "app.kubernetes.io/instance")) (printf "%s/%s" $.Release.Namespace $.Release.Name) }}
{{- $called := index $labels "app.kubernetes.io/name" -}}
{{- $stays := ternary (printf "fullnameOverride to %s" $deployment.metadata.name) (printf "nameOverride to %s" $called) (eq $called (include "daemok.name" $)) }}
{{ printf "%s/%s is of this release, which would call it %s, its service account too: set %s, and its names stay" $deployment.metadata.namespace $deployment.metadata.name $name $stays }}
{{- else }}
{{ printf "%s/%s runs %s in this cluster, and two controllers would act at once: upgrade its release instead, or scale it to 0 first" $deployment.metadata.namespace $deployment.metadata.name .image }}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "daemok.contradictions" -}}
{{- $env := list -}}
{{- range .Values.controller.env -}}{{- $env = append $env .name -}}{{- end -}}
{{- $name := "" -}}
{{- range (.Files.Get "files/options.yaml" | fromYaml).variables -}}
{{- if eq .name "CLUSTER_NAME" -}}{{- $name = include "daemok.option" (dict "root" $ "option" .) -}}{{- end -}}
{{- end -}}
{{- if not (or $name (has "CLUSTER_NAME" $env) .Values.controller.envFrom) }}
settings.clusterName is not set: set it to the name of the EKS cluster
{{- end -}}
{{- if kindIs "string" .Values.controller.image }}
{{ printf "controller.image is the text %q, as in charts of Karpenter 0.16: remove it from your values, or set controller.image.repository to a mirror of Daemok's image" .Values.controller.image }}
{{- else if hasSuffix "karpenter/controller" .Values.controller.image.repository }}
{{ printf "controller.image.repository %s is Karpenter's image: remove controller.image from your values, or name a mirror of Daemok's image" .Values.controller.image.repository }}
{{- end -}}
{{- if eq (int .Values.controller.metrics.port) (int .Values.controller.healthProbe.port) }}
{{ printf "controller.metrics.port and controller.healthProbe.port are both %d: set one of them to another port" (int .Values.controller.metrics.port) }}
{{- end -}}
{{- if and .Values.admissionPolicy.enabled (semverCompare "<1.30-0" .Capabilities.KubeVersion.Version) }}
{{ printf "admissionPolicy.enabled is true, and Kubernetes %s has no ValidatingAdmissionPolicy v1: remove it, or upgrade the cluster to 1.30" .Capabilities.KubeVersion.Version }}
{{- end -}}
{{- if eq (include "daemok.text" (dict "root" . "path" "settings.disableControllerWarmup")) "true" }}
settings.disableControllerWarmup is true, and a replica that stands by always has its caches filled: remove it
{{- end -}}
{{- if and (eq (include "daemok.text" (dict "root" . "path" "settings.disableLeaderElection")) "true") (or (gt (int .Values.replicas) 1) (ne (.Values.strategy.type | default "") "Recreate")) }}
{{ printf "settings.disableLeaderElection is true, and two controllers would act at once: set replicas (%d) to 1 and strategy.type to Recreate, or remove it" (int .Values.replicas) }}
{{- end -}}
{{- end -}}
