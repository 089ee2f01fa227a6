{{- define "berth.labels" -}}
app.kubernetes.io/name: berth
app.kubernetes.io/part-of: berth
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "berth.selector" -}}
app.kubernetes.io/name: berth
app.kubernetes.io/component: server
{{- end }}

{{- define "berth.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "berth.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "berth.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "berth.database" -}}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef: {name: {{ .Values.database.secretName }}, key: {{ .Values.database.key }}}
{{- end }}
