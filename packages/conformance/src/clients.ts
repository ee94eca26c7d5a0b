/** The clients that run the scenario: how each is made ready, and the command that runs it. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { ROOT } from "./endpoint.ts";

const CLIENTS = resolve(import.meta.dirname, "../clients");
const CACHE = join(ROOT, ".cache");

export interface Addresses {
  /** HOST:PORT of the server. */
  readonly direct: string;
  /** HOST:PORT of the proxy in front of it. */
  readonly proxied: string;
}

export interface ForeignClient {
  readonly name: string;
  /** What must be on the machine; checked before `prepare`. */
  readonly needs: readonly string[];
  /** Fetches and builds what is missing in .cache, and returns the command of a run. */
  prepare(): (addresses: Addresses) => readonly string[];
}

export const FOREIGN_CLIENTS: readonly ForeignClient[] = [
  { name: "kazoo", needs: ["python3"], prepare: prepareKazoo },
  { name: "c", needs: ["cc"], prepare: prepareC },
  { name: "go", needs: ["go"], prepare: prepareGo },
  { name: "node", needs: ["npm"], prepare: prepareNode },
  {
    name: "zooid",
    needs: [],
    prepare:
      () =>
      ({ direct, proxied }) =>
        ownScenario("client-scenario.ts", direct, proxied),
  },
  {
    name: "wire",
    needs: [],
    prepare:
      () =>
      ({ direct }) =>
        ownScenario("wire-scenario.ts", direct),
  },
  {
    name: "words",
    needs: [],
    prepare:
      () =>
      ({ direct }) =>
        ownScenario("words-scenario.ts", direct),
  },
  { name: "zkcli", needs: ["java", "mvn"], prepare: prepareZkCli },
  { name: "together", needs: ["python3", "java", "mvn"], prepare: prepareTogether },
];

function prepareKazoo(): (addresses: Addresses) => readonly string[] {
  const python = installKazoo();
  return ({ direct, proxied }) => [python, join(CLIENTS, "kazoo/scenario.py"), direct, proxied];
}

/** The Python that has kazoo. */
function installKazoo(): string {
  const folder = join(CACHE, "kazoo");
  const python = join(folder, "bin/python");
  const requirements = join(CLIENTS, "kazoo/requirements.txt");
  if (!existsSync(python)) run("python3", ["-m", "venv", folder]);
  run(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", requirements]);
  return python;
}

function prepareC(): (addresses: Addresses) => readonly string[] {
  const program = join(CACHE, "c-scenario");
  mkdirSync(CACHE, { recursive: true });
  const warnings = ["-Wall", "-Wextra", "-Wno-unused-parameter"];
  run("cc", ["-O1", "-g", "-DTHREADED", ...warnings, "-o", program, join(CLIENTS, "c/scenario.c"), "-lzookeeper_mt"]);
  return ({ direct, proxied }) => [program, direct, proxied];
}

function prepareGo(): (addresses: Addresses) => readonly string[] {
  const program = join(CACHE, "go-scenario");
  run("go", ["build", "-o", program, "."], join(CLIENTS, "go"));
  return ({ direct, proxied }) => [program, direct, proxied];
}

/** The client stays out of the workspace: nothing of ours may depend on it. */
function prepareNode(): (addresses: Addresses) => readonly string[] {
  const folder = join(CACHE, "node-zookeeper-client");
  const installed = join(folder, "node_modules/node-zookeeper-client");
  if (!existsSync(installed)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
    run("npm", ["install", "--silent", "--no-save", "--no-workspaces", "node-zookeeper-client@1.1.3"], folder);
  }
  return ({ direct, proxied }) => [process.execPath, join(CLIENTS, "node/scenario.cjs"), installed, direct, proxied];
}

/** Our own: the client, or for what clients hide no client at all but bytes. */
function ownScenario(file: string, ...args: readonly string[]): readonly string[] {
  return [process.execPath, "--conditions=@zooid/source", join(import.meta.dirname, file), ...args];
}

function prepareZkCli(): (addresses: Addresses) => readonly string[] {
  const jars = fetchApacheJars();
  return ({ direct, proxied }) => [
    process.execPath,
    join(import.meta.dirname, "zkcli-scenario.ts"),
    jars,
    join(CLIENTS, "zkcli"),
    direct,
    proxied,
  ];
}

function prepareTogether(): (addresses: Addresses) => readonly string[] {
  const [jars, python] = [fetchApacheJars(), installKazoo()];
  return ({ direct }) => ownScenario("together-scenario.ts", jars, python, join(CLIENTS, "kazoo/peer.py"), direct);
}

/** The folder of Apache's jars, fetched once. */
export function fetchApacheJars(): string {
  return run(join(ROOT, "tools/fetch-apache-zookeeper.sh"), []).trim();
}

export function isOnPath(command: string): boolean {
  try {
    execFileSync("sh", ["-c", `command -v ${command}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function run(command: string, args: readonly string[], cwd: string = ROOT): string {
  return execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}
