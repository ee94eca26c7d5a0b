import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { cachedProgram, pythonProgram } from "../cached-program.ts";
import { ROOT } from "../pack/public-packages.ts";

export const CHART: string = join(ROOT, "deploy/helm/zooid");
const HELM_VERSION = "3.19.2";
const VALIDATE_VERSION = "1.37.0";
/** A version with the schemas of every resource of the chart. */
const KUBERNETES = "1.34.0";

/** A resource of Kubernetes, as far as it is looked at. */
// biome-ignore lint/suspicious/noExplicitAny: the shapes are those of Kubernetes, and `kubernetes-validate` checks them.
export type Resource = any;

/** Builds helm, unless it is in the cache. @returns its program */
export function installHelm(): string {
  return cachedProgram(`helm-${HELM_VERSION}`, "helm", (folder) =>
    execFileSync("go", ["install", `helm.sh/helm/v3/cmd/helm@v${HELM_VERSION}`], {
      env: { ...process.env, GOBIN: folder },
      stdio: ["ignore", "ignore", "inherit"],
    }),
  );
}

/** @returns the program that knows the schemas of Kubernetes' resources */
export function installValidator(): string {
  return pythonProgram("kubernetes-validate", VALIDATE_VERSION);
}

export interface Rendered {
  readonly text: string;
  readonly resources: readonly Resource[];
}

/** @throws Error with what helm says of values that the chart does not take */
export function render(helm: string, values: readonly string[], flags: readonly string[] = []): Rendered {
  const set = values.flatMap((value) => ["--set", value]);
  const args = ["template", "zk", CHART, "--namespace", "zk", "--kube-version", KUBERNETES, ...set, ...flags];
  const { status, stdout, stderr } = spawnSync(helm, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr.trim());
  const resources = parseAllDocuments(stdout).flatMap((document) => {
    const resource: Resource = document.toJS();
    return resource === null ? [] : [resource];
  });
  return { text: stdout, resources };
}

/** Problems of resources by the schemas of Kubernetes; empty if there are none. */
export function validate(validator: string, file: string): string {
  const { status, stdout, stderr } = spawnSync(validator, ["--strict", "--quiet", "-k", KUBERNETES, file], {
    encoding: "utf8",
  });
  return status === 0 ? "" : `${stdout}${stderr}`;
}
