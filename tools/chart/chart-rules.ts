import type { Resource } from "./helm.ts";

/** The rules for each rendering of the chart, and the damage without them. */
export const RULES: readonly (readonly [rule: string, isKept: (rendering: Rendering) => boolean])[] = [
  [
    "pods start side by side: the first one is ready once a quorum is there",
    ({ set }) => set.spec.podManagementPolicy === "Parallel",
  ],
  [
    "the names of pods resolve before they are ready",
    ({ headless }) => headless.spec.publishNotReadyAddresses === true,
  ],
  ["the headless service is that of the pods", ({ set, headless }) => set.spec.serviceName === headless.metadata.name],
  [
    "one pod is away at a time",
    ({ kinds }) => kinds("PodDisruptionBudget").every(({ spec }) => spec.maxUnavailable === 1),
  ],
  [
    "the budget is for all pods",
    ({ set, kinds }) => isSame(kinds("PodDisruptionBudget")[0]?.spec.selector, set.spec.selector),
  ],
  ["pods are spread over hosts and zones", ({ pod }) => pod.topologySpreadConstraints.length === 2],
  ["variables of services do not reach the image", ({ pod }) => pod.enableServiceLinks === false],
  ["a stop has its time", ({ pod }) => pod.terminationGracePeriodSeconds === 60],
  ["SIGTERM is all that a stop needs", ({ server }) => server.lifecycle === undefined],
  [
    "there is no limit of CPU",
    ({ containers }) => containers.every(({ resources }) => resources?.limits?.cpu === undefined),
  ],
  [
    "there is a limit of memory",
    ({ containers }) => containers.every(({ resources }) => resources?.limits?.memory !== undefined),
  ],
  ["probes ask by HTTP", ({ server }) => PROBES.every(([name, path]) => server[name].httpGet.path === path)],
  ["a configuration is made from the variables of this start", ({ volume }) => volume("/conf").emptyDir !== undefined],
  [
    "data are in folders of claims, which the server makes",
    ({ set, server, variable }) => DIRECTORIES.every((name) => hasClaim(set, server, variable(name))),
  ],
  [
    "no volume is mounted in part: the kubelet would own the folder",
    ({ containers }) =>
      containers.every(({ volumeMounts }) => volumeMounts.every((each: Resource) => each.subPath === undefined)),
  ],
  [
    "data outlive pods",
    ({ set }) => Object.values(set.spec.persistentVolumeClaimRetentionPolicy).every((policy) => policy === "Retain"),
  ],
  [
    "the list of founders does not follow the number of pods",
    ({ variable, founders }) => variable("ZOO_SERVERS").split(" ").length === founders,
  ],
  [
    "members can be changed",
    ({ variable }) => variable("ZOO_RECONFIG_ENABLED") === "yes" && variable("ZOO_STANDALONE_ENABLED") === "no",
  ],
  ["a later pod joins without a vote", ({ variable }) => variable("ZOOID_JOINING_SERVER").startsWith("{hostname}.")],
  ["the servers prove who they are", ({ variable }) => variable("ZOOID_PEER_SECRET_FILE") !== ""],
  [
    "pods need no rights",
    ({ pods }) => pods.every((pod) => isRestricted(pod) && pod.automountServiceAccountToken === false),
  ],
  [
    "hooks run one at a time and are repeated",
    ({ kinds }) =>
      kinds("Job").every(({ spec }) => spec.backoffLimit > 0 && spec.template.spec.restartPolicy === "Never"),
  ],
  [
    "jobs have labels of their own: the budget and the services do not count them",
    ({ kinds, set }) =>
      kinds("Job").every(({ spec }) => !isSelected(spec.template.metadata.labels, set.spec.selector.matchLabels)),
  ],
  [
    "each selector finds the pods",
    ({ kinds, set }) =>
      kinds("Service").every(({ spec }) => isSelected(set.spec.template.metadata.labels, spec.selector)),
  ],
];

const DIRECTORIES = ["ZOO_DATA_DIR", "ZOO_DATA_LOG_DIR"] as const;
const PROBES = [
  ["startupProbe", "/startupz"],
  ["livenessProbe", "/livez"],
  ["readinessProbe", "/readyz"],
] as const;

/** The resources of one rendering, by what they are. */
export class Rendering {
  readonly #resources: readonly Resource[];
  readonly founders: number;

  constructor(resources: readonly Resource[], founders: number) {
    this.#resources = resources;
    this.founders = founders;
  }

  /** Rules take functions apart from the object. */
  readonly kinds = (kind: string): readonly Resource[] => this.#resources.filter((resource) => resource.kind === kind);

  get set(): Resource {
    return this.kinds("StatefulSet")[0];
  }

  get headless(): Resource {
    return this.kinds("Service").find(({ spec }) => spec.clusterIP === "None");
  }

  get pod(): Resource {
    return this.set.spec.template.spec;
  }

  get server(): Resource {
    return this.pod.containers[0];
  }

  get pods(): readonly Resource[] {
    return [this.pod, ...this.kinds("Job").map(({ spec }) => spec.template.spec)];
  }

  get containers(): readonly Resource[] {
    return this.pods.flatMap(({ containers }) => containers);
  }

  readonly variable = (name: string): string =>
    this.server.env.find((each: Resource) => each.name === name)?.value ?? "";

  readonly volume = (path: string): Resource => {
    const { name } = this.server.volumeMounts.find((each: Resource) => each.mountPath === path);
    return this.pod.volumes.find((each: Resource) => each.name === name);
  };
}

function hasClaim(set: Resource, server: Resource, directory: string): boolean {
  const mount = server.volumeMounts.find((each: Resource) => directory.startsWith(`${each.mountPath}/`));
  return set.spec.volumeClaimTemplates.some(({ metadata }: Resource) => metadata.name === mount?.name);
}

/** As the profile `restricted` of pod security asks. */
function isRestricted({ securityContext, containers }: Resource): boolean {
  const { runAsNonRoot, runAsUser, seccompProfile } = securityContext;
  const isOwn = runAsNonRoot === true && runAsUser !== 0 && seccompProfile.type === "RuntimeDefault";
  return isOwn && containers.every(({ securityContext: own }: Resource) => isConfined(own));
}

function isConfined({ allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities }: Resource): boolean {
  return (
    allowPrivilegeEscalation === false && readOnlyRootFilesystem === true && isSame(capabilities, { drop: ["ALL"] })
  );
}

function isSelected(labels: Resource, selector: Resource): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
