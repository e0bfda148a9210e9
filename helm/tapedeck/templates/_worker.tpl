{{/* The worker in a pod: of its own, or beside the tapectl of a Job or test. All take $. */}}

{{- define "tapedeck.workerContainer" -}}
{{- $worker := .Values.worker -}}
{{- $of := dict "root" . "role" "worker" -}}
name: worker
image: {{ include "tapedeck.image" (dict "root" . "image" "worker") }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
command: [tapedeck-worker]
args:
  {{- include "tapedeck.nodeArgs" $of | nindent 2 }}
  - --device
  - {{ $worker.device | quote }}
  {{- range $worker.fileRoots }}
  - --file-root
  - {{ printf "%s:%s" .access .path | quote }}
  {{- end }}
  {{- range $worker.storageAllow }}
  - --storage-allow
  - {{ . | quote }}
  {{- end }}
  {{- with $worker.extraArgs }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
env:
  - name: POD_NAME
    valueFrom: {fieldRef: {fieldPath: metadata.name}}
  {{- with (include "tapedeck.env" $of) }}
  {{- . | nindent 2 }}
  {{- end }}
ports:
  {{- if ne $worker.kind "Job" }}
  - {name: grpc, containerPort: {{ $worker.port }}}
  {{- end }}
  - {name: admin, containerPort: {{ $worker.adminPort }}}
{{ include "tapedeck.probes" $of }}
securityContext:
  {{- include "tapedeck.containerSecurityContext" $of | nindent 2 }}
resources:
  {{- include "tapedeck.resources" $of | nindent 2 }}
volumeMounts:
  - name: state
    mountPath: /var/lib/tapedeck/worker
  {{- include "tapedeck.commonMounts" $of | nindent 2 }}
  {{- range $index, $root := $worker.fileRoots }}
  - name: files-{{ $index }}
    mountPath: {{ $root.path }}
    readOnly: {{ eq $root.access "read" }}
  {{- end }}
{{- end -}}

{{- define "tapedeck.workerPlace" -}}
{{- $worker := .Values.worker -}}
{{- include "tapedeck.podPlace" (dict "root" . "role" "worker") }}
{{- if and $worker.gpu.enabled $worker.gpu.runtimeClassName }}
runtimeClassName: {{ $worker.gpu.runtimeClassName }}
{{- end }}
{{- with $worker.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "tapedeck.workerVolumes" -}}
- name: state
  emptyDir: {}
{{ include "tapedeck.commonVolumes" (dict "root" . "role" "worker") }}
{{- range $index, $root := .Values.worker.fileRoots }}
- name: files-{{ $index }}
  {{- toYaml $root.volume | nindent 2 }}
{{- end }}
{{- end -}}

{{/* tapectl, whose env comes last, to be added to: (dict "root" $ "name" "tapectl"). */}}
{{- define "tapedeck.cliContainer" -}}
name: {{ .name }}
image: {{ include "tapedeck.image" (dict "root" .root "image" "cli") }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  {{- include "tapedeck.cliSecurityContext" .root | nindent 2 }}
resources:
  limits: {cpu: 100m, memory: 128Mi}
  requests: {cpu: 100m, memory: 128Mi}
env:
  - name: TAPEDECK_STORAGE
    value: {{ include "tapedeck.storageAddress" (dict "root" .root "number" 0) }}
  - name: TAPEDECK_WORKER
    value: {{ ternary "127.0.0.1" (include "tapedeck.workerHost" .root) (eq .root.Values.worker.kind "Job") }}:{{ .root.Values.worker.port }}
{{- end -}}

{{/* A pod of tapectl alone. */}}
{{- define "tapedeck.cliPlace" -}}
serviceAccountName: {{ include "tapedeck.serviceAccount" . }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 4 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ int .Values.podSecurity.runAsUser }}
  runAsGroup: {{ int .Values.podSecurity.runAsGroup }}
  fsGroup: {{ int .Values.podSecurity.runAsGroup }}
  seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "tapedeck.clientMount" -}}
{{- if include "tapedeck.tlsSecret" (dict "root" . "role" "client") }}
- name: client-tls
  mountPath: /etc/tapedeck/client
  readOnly: true
{{- end }}
{{- end -}}

{{- define "tapedeck.clientVolume" -}}
{{- with (include "tapedeck.tlsSecret" (dict "root" . "role" "client")) }}
- name: client-tls
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- end -}}
