import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@zooid/conformance/internal/servers/endpoint";

const VERSION = "1.34.2";
const LIBRARIES = `v0.${VERSION.slice(2)}`;
const HELM = "3.19.2";
const COREDNS = "1.12.4";
const CACHE = join(ROOT, ".cache");
const COMMANDS = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kubectl"] as const;

/** Programs of a cluster that are not in Debian. */
export type Component = (typeof COMMANDS)[number] | "coredns" | "helm";

/**
 * Builds Kubernetes, CoreDNS and helm from their sources, unless they are in the cache: a quarter
 * of an hour on two cores.
 *
 * @returns the programs by name
 */
export function installComponents(): (component: Component) => string {
  const folder = join(CACHE, `kubernetes-${VERSION}`);
  if (!existsSync(folder)) build(folder);
  return (component) => join(folder, component);
}

function build(folder: string): void {
  mkdirSync(CACHE, { recursive: true });
  // A folder with this name is complete.
  const empty = mkdtempSync(`${folder}-`);
  const env = { ...process.env, GOBIN: empty, GOFLAGS: "-mod=mod" };
  const go = (args: readonly string[], cwd: string): string =>
    execFileSync("go", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 2 ** 26 });
  go(["install", `helm.sh/helm/v3/cmd/helm@v${HELM}`], empty);
  go(["install", `github.com/coredns/coredns@v${COREDNS}`], empty);
  const source = mkdtempSync(join(CACHE, "kubernetes-source-"));
  writeFileSync(join(source, "go.mod"), "module zooid.test/kubernetes\n");
  const { GoMod: file } = JSON.parse(go(["mod", "download", "-json", `k8s.io/kubernetes@v${VERSION}`], source));
  writeFileSync(join(source, "go.mod"), moduleOf(readFileSync(file, "utf8")));
  const packages = COMMANDS.map((command) => `k8s.io/kubernetes/cmd/${command}`);
  const imports = packages.map((each) => `\t_ "${each}"\n`).join("");
  writeFileSync(join(source, "tools.go"), `//go:build tools\n\npackage main\n\nimport (\n${imports})\n`);
  // Helm and kubectl compare versions.
  const stamp = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"]
    .map(
      (name) => `-X ${name}.gitVersion=v${VERSION} -X ${name}.gitMajor=1 -X ${name}.gitMinor=${VERSION.split(".")[1]}`,
    )
    .join(" ");
  go(["build", "-ldflags", stamp, "-o", `${empty}/`, ...packages], source);
  rmSync(source, { recursive: true });
  try {
    renameSync(empty, folder);
  } catch (error) {
    // Another run has built it meanwhile.
    if (!existsSync(folder)) throw error;
    rmSync(empty, { recursive: true });
  }
}

/**
 * Kubernetes' go.mod names no versions of its own libraries: they get those of the release.
 */
function moduleOf(text: string): string {
  const required = new Map<string, string>();
  for (const [, name = "", version = ""] of text.matchAll(/^\s+([\w./-]+) (v\S+)(?: \/\/ indirect)?$/gm)) {
    required.set(name, version);
  }
  const own = [...required].filter(([name, version]) => name.startsWith("k8s.io/") && version === "v0.0.0");
  const lines = [`k8s.io/kubernetes v${VERSION}`, ...[...required].map((each) => each.join(" "))];
  const replaced = own.map(([name]) => `${name} => ${name} ${LIBRARIES}`);
  const block = (word: string, entries: readonly string[]): string =>
    `${word} (\n${entries.map((entry) => `\t${entry}\n`).join("")})\n`;
  return `module zooid.test/kubernetes\n\ngo 1.24.0\n\ngodebug default=go1.24\n\n${block("require", lines)}\n${block("replace", replaced)}`;
}
