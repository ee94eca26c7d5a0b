{{- define "zooid.name" -}}
{{- if contains "zooid" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-zooid" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "zooid.selector" -}}
app.kubernetes.io/name: zooid
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "zooid.labels" -}}
{{ include "zooid.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "zooid.headless" -}}
{{ include "zooid.name" . }}-headless
{{- end }}

{{/* What all pods' names have behind their own. */}}
{{- define "zooid.domain" -}}
{{ include "zooid.headless" . }}.{{ .Release.Namespace }}.svc.{{ .Values.clusterDomain }}
{{- end }}

{{- define "zooid.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "zooid.pods" -}}
{{ add (int .Values.voters) (int .Values.observers) }}
{{- end }}

{{- define "zooid.peerSecret" -}}
{{ .Values.peerSecret.existingSecret | default (printf "%s-peer" (include "zooid.name" .)) }}
{{- end }}

{{- define "zooid.superUser" -}}
{{ .Values.superUser.existingSecret | default (printf "%s-super" (include "zooid.name" .)) }}
{{- end }}

{{/* One line for each server that founds the ensemble. */}}
{{- define "zooid.founders" -}}
{{- $name := include "zooid.name" . -}}
{{- $domain := include "zooid.domain" . -}}
{{- range $i := until (int .Values.founders) }}{{ if $i }} {{ end }}server.{{ add1 $i }}={{ $name }}-{{ $i }}.{{ $domain }}:2888:3888;2181{{ end }}
{{- end }}

{{/* The client ports of all pods. */}}
{{- define "zooid.connectString" -}}
{{- $name := include "zooid.name" . -}}
{{- $domain := include "zooid.domain" . -}}
{{- range $i := until (int (include "zooid.pods" .)) }}{{ if $i }},{{ end }}{{ $name }}-{{ $i }}.{{ $domain }}:2181{{ end }}
{{- end }}

{{/* Settings of zoo.cfg, one word each. */}}
{{- define "zooid.config" -}}
{{- $settings := list -}}
{{- with .Values.tls.client }}{{ if .existingSecret }}
{{- $settings = concat $settings (list (printf "secureClientPort=%d" (int .port)) (printf "ssl.clientAuth=%s" .clientAuth) "ssl.keyStore.location=/tls/client/tls.key" "ssl.trustStore.location=/tls/client/ca.crt" "client.certReload=true") -}}
{{- end }}{{ end }}
{{- with .Values.tls.quorum }}{{ if .existingSecret }}
{{- $settings = concat $settings (list "sslQuorum=true" "ssl.quorum.keyStore.location=/tls/quorum/tls.key" "ssl.quorum.trustStore.location=/tls/quorum/ca.crt" "sslQuorumReloadCertFiles=true") -}}
{{- end }}{{ end }}
{{- range $key, $value := .Values.config }}
{{- if regexMatch "\\s" (toString $value) }}{{ fail (printf "config.%s has a space or a line break, which a setting of a container cannot have" $key) }}{{ end }}
{{- if kindIs "float64" $value }}{{ $settings = append $settings (printf "%s=%d" $key (int64 $value)) }}{{ else }}{{ $settings = append $settings (printf "%s=%v" $key $value) }}{{ end }}
{{- end }}
{{- join " " $settings }}
{{- end }}

{{- define "zooid.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "zooid.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}
