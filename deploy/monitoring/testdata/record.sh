#!/usr/bin/env bash
# record.sh FILE: starts a lab with the Helm chart, has a quarter of an hour of a cluster's life go by, and records
# the metrics of both controllers. It needs the programs of `make build`, curl and ss (iproute2); `make record` runs it.
set -euo pipefail
file=$(realpath "$1")
cd "$(dirname "$0")/../../.."
folder=$(mktemp -d)
lab() { bin/daemok lab "$@" --dir "$folder"; }
k() { LAB_DIR="$folder" bin/daemok lab kubectl "$@"; }
recorder=
trap 'kill $recorder 2> /dev/null || true; lab down; rm -rf "$folder"' EXIT

class() { # NAME [FIELDS [VALUE OF THE SUBNETS' TAG]]
  cat <<Y
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: $1}
spec:
  role: KarpenterNodeRole-lab
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: ${3:-lab}}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: lab}}]
  ${2:-}
Y
}
pool() { # NAME CAPACITY-TYPES [FIELDS [ANNOTATION]]; its class has the same name
  cat <<Y
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: $1, annotations: {${4:-}}}
spec:
  template:
    metadata: {labels: {pool: $1}}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: $1}
      requirements:
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [$2]}
        - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m6i, c6i]}
        - {key: karpenter.k8s.aws/instance-size, operator: In, values: [large, xlarge, 2xlarge]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 20s, budgets: [{nodes: "50%"}]}
  ${3:-}
Y
}
app() { # NAME REPLICAS CPU POOL [AFFINITY]
  cat <<Y
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: $1}
spec:
  replicas: $2
  selector: {matchLabels: {app: $1}}
  template:
    metadata: {labels: {app: $1}}
    spec:
      nodeSelector: {pool: $4}
      terminationGracePeriodSeconds: 10
      affinity: ${5:-{\}}
      containers: [{name: main, image: pause, resources: {requests: {cpu: "$3", memory: 1Gi}}}]
Y
}
budget() { # NAME MAX-UNAVAILABLE
  cat <<Y
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: $1}
spec: {maxUnavailable: $2, selector: {matchLabels: {app: $1}}}
Y
}
apart() { echo "{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: $1}}}]}}"; }
in_zone() { echo "{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [$1]}]}]}}}"; }
prefers_size() { echo "{nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: karpenter.k8s.aws/instance-size, operator: In, values: [$1]}]}}]}}"; }
node() { # POOL N: the Nth oldest node that stays
  k get nodeclaims -l "karpenter.sh/nodepool=$1" --sort-by=.metadata.creationTimestamp -o go-template='{{range .items}}{{if and .status.nodeName (not .metadata.deletionTimestamp)}}{{.status.nodeName}}
{{end}}{{end}}' | sed -n "$2p"
}
at() { # SECONDS after the start
  local left=$(($1 + started - $(date +%s)))
  [ "$left" -le 0 ] || sleep "$left"
  echo "record: $1 s"
}

lab up --detach --install chart --seed 7
controllers=$(lab status | sed -n 's/^karpenter-[^ ]* pid=\([0-9]*\) .*/\1/p')
targets=() n=0
for pid in $controllers; do
  for port in $(ss -ltnpH | grep "pid=$pid," | awk '{sub(/.*:/, "", $4); print $4}'); do
    ! curl -sf "http://127.0.0.1:$port/metrics" > /dev/null || targets+=("10.128.0.$((++n)):8080=http://127.0.0.1:$port/metrics")
  done
done
[ "${#targets[@]}" = 2 ] || { echo "record: found ${#targets[@]} endpoints of metrics, want 2: ${targets[*]}" >&2; exit 1; }
(cd deploy/monitoring && go build -o "$folder/draw" ./draw)
(cd deploy/monitoring && "$folder/draw" record -every 15s -for 15m "$file" "${targets[@]}") & recorder=$!
started=$(date +%s)

at 20
{ class web; class batch; class data 'userData: "#!/bin/sh\necho one"'
  pool web spot '' '"daemok.sh/repair": "NetworkingReady=1m, most=2"'
  pool batch spot 'limits: {cpu: 8, memory: 64Gi}'
  pool data on-demand 'limits: {cpu: 32, memory: 256Gi}'
  cat <<Y
---
apiVersion: daemok.sh/v1alpha1
kind: DisruptionPolicy
metadata: {name: data}
spec: {nodePools: {names: [data]}, breaker: {nodes: "3", within: 30m}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: main, image: pause, resources: {requests: {cpu: 50m, memory: 100Mi}}}]}
Y
} | k apply -f -
at 40
{ app web 6 1500m web; app db 4 1200m data "$(apart db)"; budget db 1; } | k apply -f -
at 75 # batch comes to its limit
{ app jobs 8 1500m batch; app zoned 2 1200m web "$(in_zone us-east-1b)"; } | k apply -f -
at 130 # a pod that fits nowhere, and a preference that costs more than it is worth
{ app giant 1 200 web; app choosy 1 1500m data "$(prefers_size 2xlarge)"; } | k apply -f -
at 165 # insufficient capacity
lab ice 'm6i.*' --zone us-east-1a
lab ice c6i.large --option spot
lab ice '*6i.*' --option on-demand
k scale deployment web --replicas 12
k scale deployment db --replicas 5
at 205
lab ice '*6i.*' --option on-demand --melt
at 210 # AWS announces interruptions, and that an instance will be retired
lab interrupt "$(node web 1)"
lab rebalance "$(node web 2)"
lab retire "$(node data 1)"
at 240 # a node becomes unhealthy
lab machine condition "$(node web 3)" NetworkingReady=False
at 300 # a class breaks; another changes, so that its nodes drift
{ class batch '' elsewhere; class data 'userData: "#!/bin/sh\necho two"'; } | k apply -f -
at 345 # calls to AWS fail
lab fault DescribeInstances InternalError --count 4
lab fault CreateFleet InternalError
k scale deployment web --replicas 14
at 400 # consolidation
k scale deployment web --replicas 5
at 430 # reserved capacity that is not all used
lab reserve m6i.large us-east-1a 3 --tag team=shop
{ class shop 'capacityReservationSelectorTerms: [{tags: {team: shop}}]'; pool shop 'reserved, on-demand'; app shop 2 1500m shop; budget shop 0; } | k apply -f -
at 470 # the class heals
class batch | k apply -f -
k scale deployment jobs --replicas 3
at 520
k delete deployment giant zoned
k scale deployment web --replicas 2
at 560 # capacity is back
lab ice '*' --melt
lab interrupt "$(node web 1)"
at 600
k scale deployment web --replicas 8
k scale deployment jobs --replicas 10
at 660
k delete poddisruptionbudget shop
k scale deployment shop --replicas 1
at 720 # the leader ends, and the other replica leads
kill "$(echo "$controllers" | grep -w "$(k get lease -n kube-system karpenter-leader-election -o 'jsonpath={.spec.holderIdentity}' | cut -d_ -f2)")"
at 780
k scale deployment web --replicas 4
k create deployment late --image pause --replicas 2
at 850 # a class breaks, and stays broken
class batch '' elsewhere | k apply -f -
wait "$recorder"
