/** The clients that run the scenario: their preparation, and the command of a run. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { QUIET_LOG } from "./cli/zkcli-command-line.ts";
import type { SecuredPlaces } from "./security/secured-servers.ts";
import { ROOT } from "./servers/endpoint.ts";

const CLIENTS = resolve(import.meta.dirname, "../clients");
const SCENARIOS = join(import.meta.dirname, "scenarios");
const CACHE = join(ROOT, ".cache");

export interface Addresses {
  /** HOST:PORT of the server. */
  readonly direct: string;
  /** HOST:PORT of the proxy in front of it. */
  readonly proxied: string;
  /** HOST:PORT of its admin server. */
  readonly admin: string;
}

export interface ForeignClient {
  readonly name: string;
  /** Required programs; checked before `prepare`. */
  readonly needs: readonly string[];
  /** Its scenario shows differences at a member of an ensemble, or needs settings. */
  readonly isForOneServer?: boolean;
  /** Further lines of the server's zoo.cfg. */
  readonly settings?: readonly string[];
  /** Fetches and builds missing parts in .cache, and returns the command of a run. */
  prepare(): (addresses: Addresses) => readonly string[];
}

/** A client's scenario of TLS and SASL, with servers that have both. */
export interface SecuredClient {
  readonly name: string;
  readonly needs: readonly string[];
  /** As of {@link ForeignClient}. */
  prepareSecured(): (places: SecuredPlaces) => readonly string[];
}

export const FOREIGN_CLIENTS: readonly ForeignClient[] = [
  {
    // Takes longest, so it begins first.
    name: "mixed",
    needs: ["python3", "java", "javac", "mvn"],
    isForOneServer: true,
    prepare: prepareMixed,
  },
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
    name: "kinds",
    needs: [],
    isForOneServer: true,
    settings: ["extendedTypesEnabled=true", "enforceQuota=true", "znode.container.checkIntervalMs=200"],
    prepare:
      () =>
      ({ direct }) =>
        ownScenario("kinds-scenario.ts", direct),
  },
  {
    name: "words",
    needs: [],
    isForOneServer: true,
    prepare:
      () =>
      ({ direct }) =>
        ownScenario("words-scenario.ts", direct),
  },
  {
    name: "admin",
    needs: [],
    isForOneServer: true,
    prepare:
      () =>
      ({ direct, admin }) =>
        ownScenario("admin-scenario.ts", direct, admin),
  },
  {
    name: "console",
    needs: [],
    isForOneServer: true,
    prepare:
      () =>
      ({ direct }) =>
        ownScenario("console-scenario.ts", direct),
  },
  {
    name: "curator",
    needs: ["java", "javac", "mvn"],
    settings: ["extendedTypesEnabled=true"],
    prepare: prepareCurator,
  },
  { name: "recipes", needs: ["java", "javac", "mvn"], prepare: prepareRecipes },
  { name: "discovery", needs: ["java", "javac", "mvn"], prepare: prepareDiscovery },
  ...(["owners", "rounds", "strangers"] as const).map((name) => ({
    name,
    needs: ["python3", "java", "javac", "mvn"],
    isForOneServer: true,
    prepare: () => prepareNeighbours(`${name}-scenario.ts`),
  })),
  { name: "sets", needs: ["python3"], prepare: prepareSets },
  { name: "zkcli", needs: ["java", "mvn"], prepare: prepareZkCli },
  { name: "together", needs: ["python3", "java", "mvn"], prepare: prepareTogether },
];

export const SECURED_CLIENTS: readonly SecuredClient[] = [
  { name: "kazoo-secured", needs: ["python3"], prepareSecured: prepareKazooSecured },
  { name: "java-secured", needs: ["java", "javac", "mvn"], prepareSecured: prepareJavaSecured },
  { name: "go-secured", needs: ["go"], prepareSecured: prepareGoSecured },
];

/**
 * The commands of programs that change an ensemble's servers; they get an address and the servers'
 * lines. The last ends its server.
 */
export function prepareReconfigClients(): readonly (readonly string[])[] {
  const go = join(CACHE, "go-reconfig");
  run("go", ["build", "-o", go, "./reconfig"], join(CLIENTS, "go"));
  return [
    [installKazoo(), kazooProgram("reconfig.py")],
    [go],
    ["java", "-cp", compileWithCurator("Reconfig.java"), "Reconfig"],
  ];
}

function prepareKazoo(): (addresses: Addresses) => readonly string[] {
  const python = installKazoo();
  return ({ direct, proxied }) => [python, join(CLIENTS, "kazoo/scenario.py"), direct, proxied];
}

function prepareKazooSecured(): (places: SecuredPlaces) => readonly string[] {
  const python = installKazoo();
  return ({ plain, tls, strict, folder }) => [
    python,
    join(CLIENTS, "kazoo/secured.py"),
    ...[plain, tls, strict, folder],
  ];
}

/** ZooKeeper's own client, from the server's package. */
function prepareJavaSecured(): (places: SecuredPlaces) => readonly string[] {
  const [jars, folder] = [fetchApacheJars(), join(CACHE, "java")];
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "logback.xml"), QUIET_LOG);
  run("javac", ["-encoding", "UTF-8", "-cp", `${jars}/*`, "-d", folder, join(CLIENTS, "java/Secured.java")]);
  const classpath = `${folder}${delimiter}${jars}/*`;
  return ({ plain, tls, strict, folder: files }) => [
    ...["java", "-cp", classpath, "Secured"],
    ...[plain, tls, strict, files],
  ];
}

function prepareGoSecured(): (places: SecuredPlaces) => readonly string[] {
  const program = join(CACHE, "go-secured");
  run("go", ["build", "-o", program, "./secured"], join(CLIENTS, "go"));
  return ({ plain, tls, strict, folder }) => [program, plain, tls, strict, folder];
}

/** The Python with kazoo. */
export function installKazoo(): string {
  const folder = join(CACHE, "kazoo");
  const python = join(folder, "bin/python");
  const requirements = join(CLIENTS, "kazoo/requirements.txt");
  if (!existsSync(python)) run("python3", ["-m", "venv", folder]);
  run(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", requirements]);
  return python;
}

/** A program of clients/kazoo. */
export function kazooProgram(name: string): string {
  return join(CLIENTS, "kazoo", name);
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

/** The client stays out of the workspace: none of our packages may depend on it. */
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

/** Our own client, or plain bytes for requests that clients hide. */
function ownScenario(file: string, ...args: readonly string[]): readonly string[] {
  return [process.execPath, "--conditions=@zooid/source", join(SCENARIOS, file), ...args];
}

function prepareCurator(): (addresses: Addresses) => readonly string[] {
  const classpath = compileWithCurator("Scenario.java");
  return ({ direct }) => ["java", "-cp", classpath, "Scenario", direct];
}

/** Our recipes and Curator's. */
function prepareRecipes(): (addresses: Addresses) => readonly string[] {
  const classpath = compileWithCurator("Peer.java");
  return ({ direct }) => ownScenario("recipes-scenario.ts", classpath, direct);
}

/** Our service discovery and Curator's. */
function prepareDiscovery(): (addresses: Addresses) => readonly string[] {
  const classpath = compileWithCurator("DiscoveryPeer.java");
  return ({ direct }) => ownScenario("discovery-scenario.ts", classpath, direct);
}

/** Our recipes, Curator's and kazoo's, all at once. */
function prepareMixed(): (addresses: Addresses) => readonly string[] {
  const [classpath, python] = [compileWithCurator("Contender.java"), installKazoo()];
  return ({ direct }) =>
    ownScenario("mixed-scenario.ts", classpath, python, join(CLIENTS, "kazoo/contender.py"), direct);
}

/** Our recipes, Curator's and kazoo's, which have names, locks and places on the same paths. */
function prepareNeighbours(scenario: string): (addresses: Addresses) => readonly string[] {
  const [classpath, python] = [compileWithCurator("Neighbour.java"), installKazoo()];
  return ({ direct }) => ownScenario(scenario, classpath, python, kazooProgram("neighbour.py"), direct);
}

/** Our partitions of a set and kazoo's. */
function prepareSets(): (addresses: Addresses) => readonly string[] {
  const python = installKazoo();
  return ({ direct }) => ownScenario("sets-scenario.ts", python, join(CLIENTS, "kazoo/partitioner.py"), direct);
}

/** The class path of one of our programs and Curator's jars. */
function compileWithCurator(source: string): string {
  const [folder, sources] = [join(CACHE, "curator"), join(CLIENTS, "curator")];
  const jars = join(folder, "jars");
  if (!existsSync(jars)) {
    run("mvn", ["-q", "-f", join(sources, "pom.xml"), "dependency:copy-dependencies", `-DoutputDirectory=${jars}`]);
  }
  run("javac", ["-encoding", "UTF-8", "-cp", `${jars}/*`, "-d", folder, join(sources, source)]);
  return `${folder}:${jars}/*`;
}

function prepareZkCli(): (addresses: Addresses) => readonly string[] {
  const jars = fetchApacheJars();
  return ({ direct, proxied }) => [
    process.execPath,
    join(SCENARIOS, "zkcli-scenario.ts"),
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
