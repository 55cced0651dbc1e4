// Package scenario reads and prints snapshots and plans as text: for stories
// that tests tell, for bug reports and for saving a decision to look at it
// later. See PrintPlan for the lines of a plan.
//
// It promises that printing is complete and canonical: parsing what Print
// wrote gives an equal snapshot, and printing that gives the same bytes.
// Parse also reads shorter forms that people write. It decides nothing.
//
// # The language
//
// One thing a line; what belongs to a thing follows it on lines of its own,
// indented by habit. "#" begins a comment. Values with spaces or any of
// " = : , # are quoted as in Go. Times are RFC 3339, lengths are as in 1m30s,
// prices are dollars an hour, amounts are as Kubernetes writes them.
//
//	snapshot 12 2026-11-21T04:00:00Z        revision, the moment
//	repair Ready False 30m                  above all pools: of nodes that are of none
//	shape web namespace=default priority=5 cpu=500m memory=1Gi
//	  tolerate dedicated=db:NoSchedule      * for any key or effect; no "=value" means any value
//	  term                                  one alternative of what nodes must be
//	    require topology.kubernetes.io/zone In a b
//	  labels app=web                        of the pods, as far as any selector reads them
//	  volume-term                           one alternative of where the volumes can be attached
//	    require topology.kubernetes.io/zone In a
//	  prefer weight=10                      a preference for nodes; weight=1 if left out
//	    require disk In fast
//	  spread topology.kubernetes.io/zone skew=1 min-domains=3 soft ignore-node-terms honour-taints
//	    select app In web                   pods it counts; every line must hold, no line is every pod
//	  near topology.kubernetes.io/zone      pod affinity, for pods of the own namespace
//	  near zone volume                      for pods that share a volume which does not exist yet
//	    select app In db
//	  apart kubernetes.io/hostname namespaces=a,b weight=50
//	    select nothing                      no pod; namespaces=* are all, a weight makes it a preference
//	  port TCP 8080 address=10.0.0.1        of the host; all addresses if left out
//	  volume ebs.csi.aws.com                by its driver; count=2 for two
//	  volume ebs.csi.aws.com claim=default/data exclusive
//	waiting default/web-1 shape=web uid=... owner=... created=...
//	expected default/web-2 shape=web uid=...   a pod that has just come, or one whose node is gone and in whose place another is to come
//	daemon kube-system/proxy shape=proxy
//	catalogue c1 7 disk=0.0022              name within the text, revision, what the volumes of a machine cost
//	kind m5.large cpu=2 memory=8Gi pods=29  capacity
//	  allocatable cpu=1930m memory=7Gi pods=29
//	  sustained 200m surplus=0.05           cpu it can use for ever at its price, price of a core beyond that
//	  last-resort                           launched where nothing else will do
//	  attachable ebs.csi.aws.com=25         volumes it takes; a node and a machine say so too
//	  on-request vpc.amazonaws.com/efa      resources that a machine has only if it is ordered for pods that ask for them
//	  labels kubernetes.io/arch=amd64 ...
//	  offer us-west-2a on-demand 0.096      or unpriced; then unavailable if it is unavailable, and why="..." if it is something else;
//	                                        doubtful if several of its family are unavailable
//	  offer us-west-2a reserved 0 capacity reservation=cr-1 left=3   of what it is taken from, and how many are left
//	  offer us-west-2b spot 0.04 risk=0.02   interruptions that are expected in an hour of a machine
//	  offer us-west-2b on-demand 0.1 unless=rented=shared   launched for those alone who rule the label out
//	    labels ...
//	pool NodePool/default weight=10 catalogue=c1 nodes=3 machine-cost=0.01 not-ready="..."
//	  labels team=a
//	  require node.kubernetes.io/instance-type Exists minvalues 5
//	  floor karpenter.k8s.aws/instance-cpu Gt 3
//	  room memory=1Gi system=25
//	  taint dedicated=db:NoSchedule
//	  startup-taint ...
//	  limit cpu=100 nodes=5
//	  usage cpu=12
//	  policy consolidate=WhenEmpty after=30s never static delete-first budgets-change=...
//	  policy payback-off pod-cost=0.01 least-share=0.05   what moves must save; else as the controller is set up
//	  allow 3 reason=Drifted note="10%"     nodes that may be going at once; without a reason for any
//	  repair Ready Unknown 30m              nodes with a condition of that status for so long are repaired
//	  repair-most 20%                       none is while more of them are unhealthy; or a number
//	  allow 0 reason=Drifted closed="no window is open"   none, and what says so whatever budgets allow
//	node ip-10-0-0-1 claim=c pool=NodePool/default machine=i-1 price=0.096 created=... quiet-since=... changed=... ready initialized
//	  allocatable ...
//	  capacity ...
//	  labels ...
//	  ailing Ready Unknown 2026-...         a condition that it has had since, and that makes it unhealthy
//	  pod default/web-0 shape=web returns guards=web
//	pod default/web-1 shape=web last-of=web the only ready pod of a Service, which is to wait for another
//	pod default/web-2 shape=web starts-for=45s   how long its like usually take from having a node to being ready
//	pod default/web-2 shape=web holds="cpu=250m" what it takes of its node, where the next in its place asks for more
//	node ip-10-0-0-2 deleting ends=2026-...   when the cloud takes its machine away
//	pod default/web-3 shape=web grace=30s   that it is given to end in
//	guard default/web allows=1              a PodDisruptionBudget; never, unready-too
//	breaker night most=3 gone=1 pool=NodePool/a pool=NodePool/b   nodes of these that may go within a time
//	freeze "change window"                  why no node may be disturbed for now; until=2026-..., all: nor one past its age
//	machine claim-1 pool=NodePool/default launched planned  launching: a launch for it is or was under way
//	machine claim-2 purpose-unknown         it is not known for which pods a plan ordered it; types-unknown: nor what it may become
//	  allocatable ...
//	  require ...
//	  for default/web-1                     a waiting pod it was ordered for; given in full if it waits no longer
//
// What is left out is zero, but: a shape asks for one pod slot; a spread allows
// a skew of one; allocatable of
// a kind and capacity of a node or machine are as the other one; a kind has its
// name as instance type label, and an offering its zone and capacity type, unless
// a labels line says otherwise ("labels" alone: none). For people there is
// count=5 on a waiting pod, which stands for five, numbered from 1, and on a
// volume of a shape.
package scenario
