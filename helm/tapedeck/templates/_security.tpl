{{/* Who a pod's processes are and what they may. Nothing here is privileged. */}}

{{/* rdma.memlock where it counts; empty for a role without RDMA: (dict "root" $ "role" "storage"). */}}
{{- define "tapedeck.memlock" -}}
{{- if include "tapedeck.usesRdma" . }}{{ .root.Values.rdma.memlock }}{{ end -}}
{{- end -}}

{{/* IPC_LOCK does nothing for a user other than root, unless the program's file has it. */}}
{{- define "tapedeck.podSecurityContext" -}}
{{- $root := eq (include "tapedeck.memlock" .) "ipcLock" -}}
{{- $own := .root.Values.podSecurity -}}
runAsNonRoot: {{ not $root }}
runAsUser: {{ ternary 0 (int $own.runAsUser) $root }}
runAsGroup: {{ int $own.runAsGroup }}
fsGroup: {{ int $own.runAsGroup }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  {{- toYaml $own.seccompProfile | nindent 2 }}
{{- end -}}

{{/* A file's capability counts only where privileges may be gained. */}}
{{- define "tapedeck.containerSecurityContext" -}}
{{- $memlock := include "tapedeck.memlock" . -}}
allowPrivilegeEscalation: {{ eq $memlock "fileCap" }}
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
  {{- if has $memlock (list "ipcLock" "fileCap") }}
  add: [IPC_LOCK]
  {{- end }}
{{- end -}}

{{/* Of tapectl, which needs nothing, whoever else is in its pod: $ */}}
{{- define "tapedeck.cliSecurityContext" -}}
runAsNonRoot: true
runAsUser: {{ int .Values.podSecurity.runAsUser }}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* The Secret with a role's certificate, storage, worker or client; empty without TLS. */}}
{{- define "tapedeck.tlsSecret" -}}
{{- $mode := .root.Values.tls.mode -}}
{{- if eq $mode "certManager" -}}
{{ include "tapedeck.fullname" .root }}-{{ .role }}-tls
{{- else if eq $mode "existingSecret" -}}
{{ get .root.Values.tls.existingSecret .role }}
{{- end -}}
{{- end -}}

{{/* Options that tell a program its certificate, in DIR: (dict "root" $ "dir" "tls"). */}}
{{- define "tapedeck.tlsArgs" -}}
{{- if ne .root.Values.tls.mode "disabled" }}
- --tls-cert
- /etc/tapedeck/{{ .dir }}/tls.crt
- --tls-key
- /etc/tapedeck/{{ .dir }}/tls.key
- --tls-ca
- /etc/tapedeck/{{ .dir }}/ca.crt
{{- end }}
{{- end -}}
