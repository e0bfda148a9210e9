{{/* All that a rail makes of a pod, from one list. Each takes (dict "root" $ "role" "storage"). */}}

{{/* The role's rails with what they leave out, as JSON: {"rails": [...]}. */}}
{{- define "tapedeck.rails" -}}
{{- $mode := .root.Values.network.mode -}}
{{- $own := get .root.Values .role -}}
{{- $rails := list -}}
{{- range $index, $rail := default .root.Values.rails $own.rails -}}
{{- $ifname := ternary "eth0" (printf "net%d" (add1 $index)) (eq $mode "none") -}}
{{- $more := dict "ifname" $ifname "port" (add 7411 $index) "resourceCount" 1 -}}
{{- $rails = append $rails (mergeOverwrite $more (deepCopy $rail)) -}}
{{- end -}}
{{- dict "rails" $rails | toJson -}}
{{- end -}}

{{/* NAME=KIND:ADDRESS[:PORT]; the programs take %INTERFACE for the address that it has when they start. Only a storage node listens. */}}
{{- define "tapedeck.railArgs" -}}
{{- $role := .role -}}
{{- range (include "tapedeck.rails" . | fromJson).rails }}
- --rail
- {{ printf "%s=%s:%s%s" .name .transport (default (printf "%%%s" .ifname) .address)
     (ternary (printf ":%d" (int .port)) "" (and (eq $role "storage") (ne .transport "verbs"))) | quote }}
{{- end }}
{{- end -}}

{{/* The annotation of Multus: its order decides which interface is whose. */}}
{{- define "tapedeck.railNetworks" -}}
{{- $networks := list -}}
{{- if eq .root.Values.network.mode "multus" -}}
{{- range (include "tapedeck.rails" . | fromJson).rails -}}
{{- $parts := splitList "/" .network -}}
{{- $network := dict "name" (last $parts) "interface" .ifname -}}
{{- if gt (len $parts) 1 }}{{ $_ := set $network "namespace" (first $parts) }}{{ end -}}
{{- if .ips }}{{ $_ := set $network "ips" .ips }}{{ end -}}
{{- $networks = append $networks $network -}}
{{- end -}}
{{- end -}}
{{- if $networks }}{{ $networks | toJson }}{{ end -}}
{{- end -}}

{{/* Of device plugins; rails of one resource add up. As JSON: {NAME: COUNT}. */}}
{{- define "tapedeck.railResources" -}}
{{- $resources := dict -}}
{{- range (include "tapedeck.rails" . | fromJson).rails -}}
{{- if .resource -}}
{{- $_ := set $resources .resource (add (default 0 (get $resources .resource)) (int .resourceCount)) -}}
{{- end -}}
{{- end -}}
{{- $resources | toJson -}}
{{- end -}}

{{/* Whether the role's pods lock memory for a port: "true", or empty. */}}
{{- define "tapedeck.usesRdma" -}}
{{- range (include "tapedeck.rails" . | fromJson).rails -}}
{{- if has .transport (list "verbs" "auto") }}true{{ end -}}
{{- end -}}
{{- end -}}

{{/* Claims of the pod, and their names for its container. */}}
{{- define "tapedeck.podClaims" -}}
{{- $of := . -}}
{{- range (include "tapedeck.rails" . | fromJson).rails }}
{{- if .claim }}
- name: rail-{{ .name }}
  resourceClaimTemplateName: {{ include "tapedeck.fullname" $of.root }}-{{ $of.role }}-{{ .name }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "tapedeck.containerClaims" -}}
{{- range (include "tapedeck.rails" . | fromJson).rails }}
{{- if .claim }}
- name: rail-{{ .name }}
{{- end }}
{{- end }}
{{- end -}}
