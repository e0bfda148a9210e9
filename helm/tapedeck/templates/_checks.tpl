{{/* What a schema cannot say: values that contradict each other. */}}
{{/* Each message begins with the value's path. Included wherever rails are used, as helm renders in an order of its own. */}}
{{- define "tapedeck.checks" -}}
{{- include "tapedeck.patterns" . -}}
{{- $mode := .Values.network.mode -}}
{{- range $path, $rails := dict "rails" .Values.rails "storage.rails" .Values.storage.rails "worker.rails" .Values.worker.rails -}}
{{- $names := list -}}
{{- range $index, $rail := $rails -}}
{{- $at := printf "%s[%d]" $path $index -}}
{{- if has $rail.name $names }}{{ fail (printf "%s.name: %s is the name of an earlier rail" $at $rail.name) }}{{ end -}}
{{- $names = append $names $rail.name -}}
{{- if and (eq $mode "multus") (not $rail.network) -}}
{{- fail (printf "%s.network: network.mode is multus, so each rail names its NetworkAttachmentDefinition" $at) -}}
{{- end -}}
{{- if and (ne $mode "multus") (or $rail.network $rail.ips) -}}
{{- fail (printf "%s.network: only network.mode multus has networks; it is %s" $at $mode) -}}
{{- end -}}
{{- if and (eq $mode "hostNetwork") (not $rail.ifname) (not $rail.address) -}}
{{- fail (printf "%s.ifname: network.mode is hostNetwork, so each rail names the node's interface, or an address" $at) -}}
{{- end -}}
{{- if and $rail.resource $rail.claim -}}
{{- fail (printf "%s.claim: a rail has its port from a device plugin (resource) or by a claim, not from both" $at) -}}
{{- end -}}
{{- if and $rail.ips (gt (int $.Values.storage.replicas) 1) (ne $path "worker.rails") -}}
{{- fail (printf "%s.ips: %d storage nodes cannot have one address; let the network's IPAM give them" $at (int $.Values.storage.replicas)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and (ne .Values.worker.kind "None") (ne (len (default .Values.rails .Values.storage.rails)) (len (default .Values.rails .Values.worker.rails))) -}}
{{- fail "worker.rails: as many as the storage nodes have; rails of one name are joined" -}}
{{- end -}}
{{- if eq .Values.tls.mode "existingSecret" -}}
{{- range $role, $name := .Values.tls.existingSecret -}}
{{- if not $name }}{{ fail (printf "tls.existingSecret.%s: tls.mode is existingSecret, so it names a Secret with tls.crt, tls.key and ca.crt" $role) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if and .Values.policy (eq .Values.tls.mode "disabled") -}}
{{- fail "policy: without TLS nobody's name is known, so no policy can be obeyed; set tls.mode" -}}
{{- end -}}
{{- if and .Values.openHealth (eq .Values.tls.mode "disabled") -}}
{{- fail "openHealth: without TLS health answers everybody already; set tls.mode, or leave this out" -}}
{{- end -}}
{{- if and .Values.railTls (eq .Values.tls.mode "disabled") -}}
{{- fail "railTls: without TLS the keys of the rails would travel in clear; set tls.mode, or leave this out" -}}
{{- end -}}
{{- if and (eq .Values.worker.kind "Job") (not .Values.worker.job.args) -}}
{{- fail "worker.job.args: worker.kind is Job, so they say what tapectl is to do, e.g. [record, l0/c0, --source, synth, --duration, 10s]" -}}
{{- end -}}
{{- range $role := list "storage" "worker" -}}
{{- $own := get $.Values $role -}}
{{- if and (or $own.resources.hugepages2Mi $own.resources.hugepages1Gi) (not $own.resources.memory) -}}
{{- fail (printf "%s.resources.memory: huge pages are given only beside memory" $role) -}}
{{- end -}}
{{- end -}}
{{- $ports := list (int .Values.storage.port) (int .Values.storage.adminPort) -}}
{{- if eq (first $ports) (last $ports) }}{{ fail (printf "storage.adminPort: %d is storage.port, too" (first $ports)) }}{{ end -}}
{{- if eq (int .Values.worker.port) (int .Values.worker.adminPort) }}{{ fail (printf "worker.adminPort: %d is worker.port, too" (int .Values.worker.port)) }}{{ end -}}
{{- range $index, $rail := (include "tapedeck.rails" (dict "root" . "role" "storage") | fromJson).rails -}}
{{- if has (int $rail.port) $ports }}{{ fail (printf "rails[%d].port: %d is a port of the storage node already" $index (int $rail.port)) }}{{ end -}}
{{- $ports = append $ports (int $rail.port) -}}
{{- end -}}
{{- with .Values.storage.ceph -}}
{{- if and .standbyFor (not .secret) -}}
{{- fail "storage.ceph.standbyFor: a LUN on Ceph needs storage.ceph.secret, with ceph.conf and a keyring" -}}
{{- end -}}
{{- if and .monitors (not .secret) -}}
{{- fail "storage.ceph.monitors: they need storage.ceph.secret, with the user's key under the user's name" -}}
{{- end -}}
{{- if and .config (not .monitors) -}}
{{- fail "storage.ceph.config: without storage.ceph.monitors the Secret has a ceph.conf of its own" -}}
{{- end -}}
{{- if and .standbyFor (lt (int $.Values.storage.replicas) 2) -}}
{{- fail "storage.ceph.standbyFor: one node has no standby; set storage.replicas to 2 or more" -}}
{{- end -}}
{{- end -}}
{{- $members := list -}}
{{- range $index, $member := .Values.storage.members -}}
{{- if has $member.name $members }}{{ fail (printf "storage.members[%d].name: %s is the name of an earlier member" $index $member.name) }}{{ end -}}
{{- $members = append $members $member.name -}}
{{- end -}}
{{- range $index, $root := .Values.worker.fileRoots -}}
{{- if has $root.path (list "/tmp" "/var/lib/tapedeck" "/etc/tapedeck") -}}
{{- fail (printf "worker.fileRoots[%d].path: %s is the worker's own" $index $root.path) -}}
{{- end -}}
{{- end -}}
{{- end -}}
