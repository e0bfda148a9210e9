{{/* What the pods of both roles have in common. Each takes (dict "root" $ "role" "storage"), unless it says otherwise. */}}

{{/* Nothing here changes with the chart's version alone: a storage node that starts again ends its recordings. */}}
{{- define "tapedeck.podMeta" -}}
{{- $own := get .root.Values .role -}}
labels:
  {{- include "tapedeck.selector" . | nindent 2 }}
  {{- with .root.Values.commonLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with $own.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- $networks := include "tapedeck.railNetworks" . }}
{{- $settings := dict "config" $own.config "policy" .root.Values.policy }}
annotations:
  checksum/settings: {{ $settings | toJson | sha256sum }}
  {{- if $networks }}
  k8s.v1.cni.cncf.io/networks: {{ $networks | quote }}
  {{- end }}
  {{- with $own.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* Where a pod runs, and as whom. */}}
{{- define "tapedeck.podPlace" -}}
{{- $own := get .root.Values .role -}}
{{- if eq .root.Values.network.mode "hostNetwork" }}
hostNetwork: true
dnsPolicy: ClusterFirstWithHostNet
{{- end }}
serviceAccountName: {{ include "tapedeck.serviceAccount" .root }}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: {{ int $own.terminationGracePeriodSeconds }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  {{- include "tapedeck.podSecurityContext" . | nindent 2 }}
{{- with $own.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with (include "tapedeck.podClaims" . | trim) }}
resourceClaims:
  {{- . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Limits and requests are one list, so that the pod is Guaranteed. */}}
{{- define "tapedeck.resources" -}}
{{- $own := get .root.Values .role -}}
{{- $all := dict "cpu" ($own.resources.cpu | toString) "memory" $own.resources.memory -}}
{{- with $own.resources.hugepages2Mi }}{{ $_ := set $all "hugepages-2Mi" . }}{{ end -}}
{{- with $own.resources.hugepages1Gi }}{{ $_ := set $all "hugepages-1Gi" . }}{{ end -}}
{{- range $name, $count := include "tapedeck.railResources" . | fromJson }}{{ $_ := set $all $name ($count | toString) }}{{ end -}}
{{- if eq .role "worker" -}}
{{- with $own.gpu }}{{ if .enabled }}{{ $_ := set $all .resource (.count | toString) }}{{ end }}{{ end -}}
{{- end -}}
limits:
  {{- toYaml $all | nindent 2 }}
requests:
  {{- toYaml $all | nindent 2 }}
{{- with (include "tapedeck.containerClaims" . | trim) }}
claims:
  {{- . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Options that both programs have. */}}
{{- define "tapedeck.nodeArgs" -}}
{{- $own := get .root.Values .role -}}
{{- $listen := ternary "127.0.0.1" "0.0.0.0" (and (eq .role "worker") (eq $own.kind "Job")) -}}
- --listen
- {{ $listen }}:{{ $own.port }}
- --admin
- 0.0.0.0:{{ $own.adminPort }}
- --state
- /var/lib/tapedeck/{{ .role }}
- --grace
- {{ sub (int $own.terminationGracePeriodSeconds) 6 }}s
{{- include "tapedeck.railArgs" . }}
{{- if $own.config }}
- --config
- /etc/tapedeck/settings/{{ .role }}.yaml
{{- end }}
{{- if .root.Values.policy }}
- --policy
- /etc/tapedeck/settings/policy.yaml
{{- end }}
{{- if eq .root.Values.tls.mode "disabled" }}
- --insecure
{{- end }}
{{- include "tapedeck.tlsArgs" (dict "root" .root "dir" "tls") }}
{{- if .root.Values.openHealth }}
- --open-health
{{- end }}
{{- if .root.Values.railTls }}
- --rail-tls
- "on"
{{- end }}
{{- end -}}

{{- define "tapedeck.env" -}}
{{- $own := get .root.Values .role -}}
{{- with .root.Values.tracing.endpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . | quote }}
- name: OTEL_RESOURCE_ATTRIBUTES
  value: {{ printf "k8s.namespace.name=%s,service.instance.id=$(POD_NAME)" $.root.Release.Namespace | quote }}
{{- end }}
{{- with $own.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Plain HTTP on the admin port: the kubelet's gRPC probes speak no TLS. Not ready while it starts or drains. */}}
{{- define "tapedeck.probes" -}}
{{- $own := get .root.Values .role -}}
startupProbe:
  httpGet: {path: /healthz, port: admin}
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: {{ int (default 24 $own.startupFailureThreshold) }}
livenessProbe:
  httpGet: {path: /healthz, port: admin}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: admin}
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 1
{{- end -}}

{{- define "tapedeck.commonMounts" -}}
- name: tmp
  mountPath: /tmp
{{- if or (get .root.Values .role).config .root.Values.policy }}
- name: settings
  mountPath: /etc/tapedeck/settings
  readOnly: true
{{- end }}
{{- if include "tapedeck.tlsSecret" . }}
- name: tls
  mountPath: /etc/tapedeck/tls
  readOnly: true
{{- end }}
{{- range $size, $name := dict "2Mi" "hugepages2Mi" "1Gi" "hugepages1Gi" }}
{{- if get (get $.root.Values $.role).resources $name }}
- name: hugepages-{{ lower $size }}
  mountPath: /dev/hugepages-{{ $size }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "tapedeck.commonVolumes" -}}
- name: tmp
  emptyDir: {}
{{- if or (get .root.Values .role).config .root.Values.policy }}
- name: settings
  configMap:
    name: {{ include "tapedeck.fullname" .root }}-settings
{{- end }}
{{- with (include "tapedeck.tlsSecret" .) }}
- name: tls
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- range $size, $name := dict "2Mi" "hugepages2Mi" "1Gi" "hugepages1Gi" }}
{{- if get (get $.root.Values $.role).resources $name }}
- name: hugepages-{{ lower $size }}
  emptyDir:
    medium: HugePages-{{ $size }}
{{- end }}
{{- end }}
{{- end -}}
