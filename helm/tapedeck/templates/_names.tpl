{{/* Names, labels and images. */}}
{{- define "tapedeck.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* At most 40 characters: what is appended to it, and the number of a pod, must fit into 63. */}}
{{- define "tapedeck.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "tapedeck.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "tapedeck.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* What pods of a role are chosen by: (dict "root" $ "role" "storage"). */}}
{{- define "tapedeck.selector" -}}
app.kubernetes.io/name: {{ include "tapedeck.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- if .role }}
app.kubernetes.io/component: {{ .role }}
{{- end }}
{{- end -}}

{{- define "tapedeck.labels" -}}
{{ include "tapedeck.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* (dict "root" $ "image" "storage") */}}
{{- define "tapedeck.image" -}}
{{- $image := get .root.Values.image .image -}}
{{ .root.Values.image.registry }}{{ $image.repository }}:{{ default .root.Chart.AppVersion $image.tag }}
{{- end -}}

{{- define "tapedeck.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ default (include "tapedeck.fullname" .) .Values.serviceAccount.name }}
{{- else -}}
{{ default "default" .Values.serviceAccount.name }}
{{- end -}}
{{- end -}}

{{/* The headless service's name in the cluster, which stands behind a pod's. */}}
{{- define "tapedeck.storageDomain" -}}
{{ include "tapedeck.fullname" . }}-storage.{{ .Release.Namespace }}.svc.{{ .Values.clusterDomain }}
{{- end -}}

{{/* HOST:PORT of the storage node with that number: (dict "root" $ "number" 0). */}}
{{- define "tapedeck.storageAddress" -}}
{{ include "tapedeck.fullname" .root }}-storage-{{ .number }}.{{ include "tapedeck.storageDomain" .root }}:{{ .root.Values.storage.port }}
{{- end -}}

{{- define "tapedeck.workerHost" -}}
{{ include "tapedeck.fullname" . }}-worker.{{ .Release.Namespace }}.svc.{{ .Values.clusterDomain }}
{{- end -}}
