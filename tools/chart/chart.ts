/**
 * The chart in deploy/helm: rendered with values of many kinds, each rendering is what Kubernetes
 * takes and keeps the rules of docs/kubernetes.md; wrong values are refused by a sentence; and
 * deploy/kubernetes/zooid.yaml is what the chart renders.
 *
 *     npm run tool -- chart [--write]
 *
 * Helm is built with Go, and the schemas come from PyPI's kubernetes-validate; both are kept in
 * .cache. `--write` writes the manifests.
 */

import { spawnSync } from "node:child_process";
import { mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toolOptions } from "@zooid/conformance/internal/tool-options";
import { parse } from "yaml";
import { publicPackages, ROOT } from "../pack/public-packages.ts";
import { Rendering, RULES } from "./chart-rules.ts";
import { CHART, installHelm, installValidator, render, validate } from "./helm.ts";

const MANIFESTS = join(ROOT, "deploy/kubernetes/zooid.yaml");
/** The manifests have no secrets: an operator makes these. */
const OF_MANIFESTS = ["peerSecret.existingSecret=zk-peer", "superUser.existingSecret=zk-super", "hooks.enabled=false"];
const HEAD = `# Three servers, as the chart in deploy/helm renders them for the namespace zk, without its hooks: \`npm run tool -- chart --write\`.
# Before: kubectl create namespace zk
#         zooid-server init-secret peer.secret
#         kubectl -n zk create secret generic zk-peer --from-file=secret=peer.secret
#         kubectl -n zk create secret generic zk-super --from-literal=password=PASSWORD
`;

const ACCEPTED: readonly {
  readonly values: readonly string[];
  readonly founders?: number;
  readonly flags?: readonly string[];
}[] = [
  { values: [] },
  { values: [], flags: ["--is-upgrade"] },
  { values: ["voters=1", "founders=1"], founders: 1 },
  { values: ["voters=3", "founders=1"], founders: 1, flags: ["--is-upgrade"] },
  { values: ["voters=5", "observers=2"], flags: ["--is-upgrade"] },
  { values: OF_MANIFESTS },
  { values: ["storage.logSize=5Gi", "storage.className=fast"] },
  { values: ["tls.client.existingSecret=c", "tls.quorum.existingSecret=q", "tls.client.clientAuth=none"] },
  { values: ["serviceMonitor.enabled=true", "serviceMonitor.labels.release=prometheus"] },
  { values: ["networkPolicy.enabled=false", "logLevel=debug", "priorityClassName=high"] },
  {
    values: [
      "networkPolicy.clients[0].namespaceSelector.matchLabels.app=kafka",
      "networkPolicy.operators[0].podSelector.matchLabels.app=prometheus",
    ],
  },
  {
    values: ["config.maxClientCnxns=200", "config.zooid\\.history\\.retainMs=86400000000", "config.enforceQuota=true"],
  },
];
const REFUSED: readonly (readonly [value: string, part: string])[] = [
  ["voters=0", "voters"],
  ["voters=2", "voters"],
  ["voters=4", "voters"],
  ["voters=-1", "voters"],
  ["observers=-1", "observers"],
  ["observers=1000", "observers"],
  ["founders=2", "founders"],
  ["replicas=3", "replicas"],
  ["voter=3", "voter"],
  ["tls.client.existingSecert=c", "existingSecert"],
  ["logLevel=loud", "logLevel"],
  ["config.tick Time=5", "tick Time"],
  ["config.a=b c", "has a space or a line break"],
  ["spread.hosts=never", "hosts"],
  ["hooks.timeoutSeconds=1", "timeoutSeconds"],
];

const options = toolOptions({ write: false });
const helm = installHelm();
const validator = installValidator();
const faults: string[] = [];
using folder = mkdtempDisposableSync(join(tmpdir(), "chart-"));

const lint = spawnSync(helm, ["lint", "--strict", CHART], { encoding: "utf8" });
if (lint.status !== 0) faults.push(lint.stdout + lint.stderr);

for (const { values, founders = 3, flags = [] } of ACCEPTED) {
  const title = [...values, ...flags].join(" ") || "defaults";
  const { resources } = render(helm, values, flags);
  const rendering = new Rendering(resources, founders);
  for (const [rule, isKept] of RULES) if (!isKept(rendering)) faults.push(`${title}: broken: ${rule}`);
  // Not one of Kubernetes' own.
  const known = resources.filter(({ apiVersion }) => !apiVersion.startsWith("monitoring.coreos.com/"));
  const file = join(folder.path, "resources.yaml");
  writeFileSync(file, known.map((each) => JSON.stringify(each)).join("\n---\n"));
  const problems = validate(validator, file);
  if (problems !== "") faults.push(`${title}: ${problems}`);
  console.log(`${title}: ${resources.length} resources, ${RULES.length} rules`);
}

for (const [value, part] of REFUSED) {
  try {
    render(helm, [value]);
    faults.push(`${value} is taken`);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    if (!text.includes(part)) faults.push(`${value}: the refusal does not name ${part}: ${text}`);
  }
}
console.log(`${REFUSED.length} wrong values`);

const { appVersion, version } = parse(readFileSync(join(CHART, "Chart.yaml"), "utf8"));
const released = publicPackages().find(({ manifest }) => manifest.name === "zooid-server")?.manifest.version;
if (appVersion !== released || version !== released)
  faults.push(`Chart.yaml has the versions ${version} and ${appVersion}, and zooid-server ${released}`);

const manifests = `${HEAD}${render(helm, OF_MANIFESTS).text}`;
if (options.write) writeFileSync(MANIFESTS, manifests);
else if (readFileSync(MANIFESTS, "utf8") !== manifests)
  faults.push(`${MANIFESTS} is not what the chart renders: npm run tool -- chart --write`);

for (const fault of faults) console.log(fault);
console.log(faults.length === 0 ? "every rendering keeps the rules" : "FAILED");
process.exitCode = faults.length === 0 ? 0 : 1;
