{{/* What each text must look like, in words and with an example: a schema's pattern says neither. */}}

{{/* (dict "at" PATH "value" TEXT "like" PATTERN "is" WORDS) */}}
{{- define "tapedeck.mustBe" -}}
{{- if not (regexMatch (printf "^(%s)$" .like) (.value | toString)) -}}
{{- fail (printf "%s: %q is not %s" .at (.value | toString) .is) -}}
{{- end -}}
{{- end -}}

{{- define "tapedeck.mustBeQuantity" -}}
{{- include "tapedeck.mustBe" (dict "at" .at "value" .value "like" "[0-9]+(\\.[0-9]+)?(Ki|Mi|Gi|Ti|Pi|k|M|G|T|P)?" "is" "an amount of Kubernetes, e.g. 100Gi") -}}
{{- end -}}

{{- define "tapedeck.mustBeLabel" -}}
{{- include "tapedeck.mustBe" (dict "at" .at "value" .value "like" "[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?" "is" "a name of at most 40 of a-z 0-9 -, e.g. data0") -}}
{{- end -}}

{{- define "tapedeck.railPatterns" -}}
{{- $at := .at -}}
{{- with .rail -}}
{{- include "tapedeck.mustBeLabel" (dict "at" (printf "%s.name" $at) "value" .name) -}}
{{- include "tapedeck.mustBe" (dict "at" (printf "%s.network" $at) "value" (default "a" .network) "like" "([a-z0-9]([-a-z0-9]*[a-z0-9])?/)?[a-z0-9]([-a-z0-9.]*[a-z0-9])?" "is" "NAME or NAMESPACE/NAME of a NetworkAttachmentDefinition") -}}
{{- include "tapedeck.mustBe" (dict "at" (printf "%s.ifname" $at) "value" (default "a" .ifname) "like" "[^/:% ]{1,15}" "is" "a network interface of at most 15 characters, e.g. net1") -}}
{{- include "tapedeck.mustBe" (dict "at" (printf "%s.address" $at) "value" (default "1.2.3.4" .address) "like" "[0-9]{1,3}(\\.[0-9]{1,3}){3}|\\[[0-9a-f:]+\\]" "is" "an IPv4 address, or an IPv6 one in brackets, e.g. 10.0.0.1") -}}
{{- include "tapedeck.mustBe" (dict "at" (printf "%s.resource" $at) "value" (default "a/b" .resource) "like" "[a-z0-9.-]+/[A-Za-z0-9._-]+" "is" "a device plugin's PREFIX/NAME, e.g. rdma/hca_a") -}}
{{- range $index, $ip := .ips -}}
{{- include "tapedeck.mustBe" (dict "at" (printf "%s.ips[%d]" $at $index) "value" $ip "like" "[0-9a-f.:]+/[0-9]{1,3}" "is" "an address with its prefix length, e.g. 10.0.0.1/24") -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "tapedeck.patterns" -}}
{{- range $path, $rails := dict "rails" .Values.rails "storage.rails" .Values.storage.rails "worker.rails" .Values.worker.rails -}}
{{- range $index, $rail := $rails -}}
{{- include "tapedeck.railPatterns" (dict "at" (printf "%s[%d]" $path $index) "rail" $rail) -}}
{{- end -}}
{{- end -}}
{{- range $role := list "storage" "worker" -}}
{{- $own := get $.Values $role -}}
{{- include "tapedeck.mustBe" (dict "at" (printf "%s.resources.cpu" $role) "value" $own.resources.cpu "like" "[0-9]+(\\.[0-9]+)?|[0-9]+m" "is" "a number of processors, e.g. 4") -}}
{{- range $name := list "memory" "hugepages2Mi" "hugepages1Gi" -}}
{{- include "tapedeck.mustBeQuantity" (dict "at" (printf "%s.resources.%s" $role $name) "value" (default "1Gi" (get $own.resources $name))) -}}
{{- end -}}
{{- end -}}
{{- include "tapedeck.mustBe" (dict "at" "storage.followMemory" "value" .Values.storage.followMemory "like" "[0-9]+ ?(B|[KMGT]i?B)?" "is" "a size of the program's, e.g. 512MiB") -}}
{{- include "tapedeck.mustBeQuantity" (dict "at" "storage.state.size" "value" .Values.storage.state.size) -}}
{{- range $index, $member := .Values.storage.members -}}
{{- include "tapedeck.mustBeLabel" (dict "at" (printf "storage.members[%d].name" $index) "value" .name) -}}
{{- include "tapedeck.mustBeQuantity" (dict "at" (printf "storage.members[%d].size" $index) "value" .size) -}}
{{- end -}}
{{- range $index, $root := .Values.storage.memberRoots -}}
{{- include "tapedeck.mustBe" (dict "at" (printf "storage.memberRoots[%d]" $index) "value" $root "like" "/.*" "is" "an absolute path, e.g. /members") -}}
{{- end -}}
{{- with .Values.storage.ceph -}}
{{- range $index, $monitor := .monitors -}}
{{- include "tapedeck.mustBe" (dict "at" (printf "storage.ceph.monitors[%d]" $index) "value" $monitor "like" "(\\[[0-9A-Fa-f:]+\\]|[A-Za-z0-9.-]+):[0-9]{1,5}" "is" "HOST:PORT of a monitor, e.g. 10.96.4.1:3300") -}}
{{- end -}}
{{- if .monitors -}}
{{- include "tapedeck.mustBe" (dict "at" "storage.ceph.user" "value" .user "like" "[A-Za-z0-9._-]+" "is" "a user's name without client., of A-Z a-z 0-9 . _ -") -}}
{{- end -}}
{{- range $name, $value := .config -}}
{{- include "tapedeck.mustBe" (dict "at" "storage.ceph.config" "value" $name "like" "[a-z0-9_]+" "is" "an option's name of ceph.conf, e.g. rados_osd_op_timeout") -}}
{{- include "tapedeck.mustBe" (dict "at" (printf "storage.ceph.config.%s" $name) "value" $value "like" "[^\\n\\r]*" "is" "one line") -}}
{{- end -}}
{{- end -}}
{{- range $index, $node := .Values.worker.storageAllow -}}
{{- include "tapedeck.mustBe" (dict "at" (printf "worker.storageAllow[%d]" $index) "value" $node "like" "(\\[[0-9A-Fa-f.:*]+\\]|[A-Za-z0-9._*-]+):([0-9]{1,5}|\\*)" "is" "HOST:PORT, e.g. *.lab.example:7400") -}}
{{- end -}}
{{- include "tapedeck.mustBe" (dict "at" "worker.device" "value" .Values.worker.device "like" "auto|all|host|cuda:[0-9]+" "is" "auto, all, host or cuda:N") -}}
{{- range $index, $root := .Values.worker.fileRoots -}}
{{- include "tapedeck.mustBe" (dict "at" (printf "worker.fileRoots[%d].path" $index) "value" .path "like" "/[^:]*[^:/]" "is" "an absolute path without a colon, e.g. /captures") -}}
{{- end -}}
{{- with .Values.tls.certManager -}}
{{- range $name := list "duration" "renewBefore" -}}
{{- include "tapedeck.mustBe" (dict "at" (printf "tls.certManager.%s" $name) "value" (get $.Values.tls.certManager $name) "like" "([0-9]+(h|m|s))+" "is" "a time in h, m and s, e.g. 2160h") -}}
{{- end -}}
{{- end -}}
{{- include "tapedeck.mustBe" (dict "at" "tracing.endpoint" "value" (default "http://a" .Values.tracing.endpoint) "like" "http://[^ ]+" "is" "an OTLP address over gRPC without TLS, e.g. http://collector:4317") -}}
{{- include "tapedeck.mustBe" (dict "at" "image.registry" "value" (default "a/" .Values.image.registry) "like" "[^ ]+/" "is" "a registry that ends with a slash, e.g. registry.example.com/tapedeck/") -}}
{{- end -}}
