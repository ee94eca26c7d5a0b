/** The clients that run the scenario: their preparation, and the command of a run. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { QUIET_LOG } from "./cli/zkcli-command-line.ts";
import { ROOT } from "./servers/endpoint.ts";

const CLIENTS = resolve(import.meta.dirname, "../clients");
const SCENARIOS = join(import.meta.dirname, "scenarios");
const CACHE = join(ROOT, ".cache");
const NODE_CLIENT_VERSION = "1.1.3";

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
  /** Required programs; checked before `build`. */
  readonly needs: readonly string[];
  /** Its scenario shows differences at a member of an ensemble, or needs settings. */
  readonly isForOneServer?: boolean;
  /** Further lines of the server's zoo.cfg. */
  readonly settings?: readonly string[];
  /** The last words of a run's command. Default: the server, and the proxy in front of it. */
  readonly takes?: readonly (keyof Addresses)[];
  /** Fetches and builds missing parts in .cache, and returns how the command of a run begins. */
  build(): readonly string[];
}

/** The command of a run at a server. @param begin what {@link ForeignClient.build} returned */
export function commandOf(
  { takes = ["direct", "proxied"] }: ForeignClient,
  begin: readonly string[],
  addresses: Addresses,
): readonly string[] {
  return [...begin, ...takes.map((place) => addresses[place])];
}

/** A client's scenario of TLS and SASL, with servers of both; its command gets their places. */
export interface SecuredClient {
  readonly name: string;
  readonly needs: readonly string[];
  readonly isSecured: true;
  /** As of {@link ForeignClient}. */
  build(): readonly string[];
}

const JAVA = ["java", "javac", "mvn"];
const ONE_SERVER = { isForOneServer: true, takes: ["direct"] } as const;

export const FOREIGN_CLIENTS: readonly ForeignClient[] = [
  // Takes longest, so it begins first.
  { ...ONE_SERVER, name: "mixed", needs: ["python3", ...JAVA], build: buildMixed },
  { name: "kazoo", needs: ["python3"], build: () => kazoo("scenario.py") },
  { name: "c", needs: ["cc"], build: buildC },
  { name: "go", needs: ["go"], build: () => buildGo("go-scenario", ".") },
  { name: "node", needs: ["npm"], build: buildNode },
  { name: "zooid", needs: [], build: () => ownScenario("client") },
  { name: "wire", needs: [], takes: ["direct"], build: () => ownScenario("wire") },
  {
    ...ONE_SERVER,
    name: "kinds",
    needs: [],
    settings: ["extendedTypesEnabled=true", "enforceQuota=true", "znode.container.checkIntervalMs=200"],
    build: () => ownScenario("kinds"),
  },
  { ...ONE_SERVER, name: "words", needs: [], build: () => ownScenario("words") },
  { ...ONE_SERVER, name: "admin", needs: [], takes: ["direct", "admin"], build: () => ownScenario("admin") },
  { ...ONE_SERVER, name: "console", needs: [], build: () => ownScenario("console") },
  {
    name: "curator",
    needs: JAVA,
    settings: ["extendedTypesEnabled=true"],
    takes: ["direct"],
    build: () => ["java", "-cp", compileWithCurator("Scenario.java"), "Scenario"],
  },
  // Our recipes and Curator's, then our service discovery and Curator's.
  {
    name: "recipes",
    needs: JAVA,
    takes: ["direct"],
    build: () => ownScenario("recipes", compileWithCurator("Peer.java")),
  },
  {
    name: "discovery",
    needs: JAVA,
    takes: ["direct"],
    build: () => ownScenario("discovery", compileWithCurator("DiscoveryPeer.java")),
  },
  // Our recipes, Curator's and kazoo's, which have names, locks and places on the same paths.
  ...(["owners", "rounds", "strangers"] as const).map((name) => ({
    ...ONE_SERVER,
    name,
    needs: ["python3", ...JAVA],
    build: () => ownScenario(name, compileWithCurator("Neighbour.java"), ...kazoo("neighbour.py")),
  })),
  // Our partitions of a set and kazoo's.
  { name: "sets", needs: ["python3"], takes: ["direct"], build: () => ownScenario("sets", ...kazoo("partitioner.py")) },
  {
    name: "zkcli",
    needs: ["java", "mvn"],
    build: () => ownScenario("zkcli", fetchApacheJars(), join(CLIENTS, "zkcli")),
  },
  {
    name: "together",
    needs: ["python3", "java", "mvn"],
    takes: ["direct"],
    build: () => ownScenario("together", fetchApacheJars(), ...kazoo("peer.py")),
  },
];

export const SECURED_CLIENTS: readonly SecuredClient[] = [
  { name: "kazoo-secured", needs: ["python3"], isSecured: true, build: () => kazoo("secured.py") },
  { name: "java-secured", needs: JAVA, isSecured: true, build: buildJavaSecured },
  { name: "go-secured", needs: ["go"], isSecured: true, build: () => buildGo("go-secured", "./secured") },
];

/**
 * The commands of programs that change an ensemble's servers; they get an address and the servers'
 * lines. The last ends its server.
 */
export function buildReconfigClients(): readonly (readonly string[])[] {
  return [
    kazoo("reconfig.py"),
    buildGo("go-reconfig", "./reconfig"),
    ["java", "-cp", compileWithCurator("Reconfig.java"), "Reconfig"],
  ];
}

/** ZooKeeper's own client, from the server's package. */
function buildJavaSecured(): readonly string[] {
  return ["java", "-cp", compileWithApache("Secured.java"), "Secured"];
}

/** The class path of one of our programs and Apache's jars, which log nothing. */
export function compileWithApache(source: string): string {
  const [jars, folder] = [fetchApacheJars(), join(CACHE, "java", basename(source, ".java"))];
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "logback.xml"), QUIET_LOG);
  compileJava(`java/${source}`, jars, folder);
  return `${folder}${delimiter}${jars}/*`;
}

function buildGo(name: string, source: string): readonly string[] {
  const program = join(CACHE, name);
  run("go", ["build", "-o", program, source], join(CLIENTS, "go"));
  return [program];
}

/** The Python with kazoo. */
export function installKazoo(): string {
  const requirements = join(CLIENTS, "kazoo/requirements.txt");
  const folder = installed(`kazoo-${fingerprint(requirements)}`, (empty) => {
    run("python3", ["-m", "venv", empty]);
    const quiet = ["--quiet", "--disable-pip-version-check"];
    run(join(empty, "bin/python"), ["-m", "pip", "install", ...quiet, "--requirement", requirements]);
  });
  return join(folder, "bin/python");
}

/** A folder of the cache, which is there once it is complete: two tools may install at once. */
function installed(name: string, install: (empty: string) => void): string {
  const folder = join(CACHE, name);
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  const empty = mkdtempSync(`${folder}-`);
  install(empty);
  try {
    renameSync(empty, folder);
  } catch (error) {
    // Another tool was first.
    if (!existsSync(folder)) throw error;
    rmSync(empty, { recursive: true });
  }
  return folder;
}

function fingerprint(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex").slice(0, 8);
}

/** A program of clients/kazoo. */
export function kazooProgram(name: string): string {
  return join(CLIENTS, "kazoo", name);
}

/** A program of clients/java, which `java` compiles. */
export function javaProgram(name: string): string {
  return join(CLIENTS, "java", name);
}

/** The command of a program of clients/kazoo. */
function kazoo(name: string): readonly string[] {
  return [installKazoo(), kazooProgram(name)];
}

function buildC(): readonly string[] {
  const program = join(CACHE, "c-scenario");
  mkdirSync(CACHE, { recursive: true });
  const warnings = ["-Wall", "-Wextra", "-Wno-unused-parameter"];
  run("cc", ["-O1", "-g", "-DTHREADED", ...warnings, "-o", program, join(CLIENTS, "c/scenario.c"), "-lzookeeper_mt"]);
  return [program];
}

/** The client stays out of the workspace: none of our packages may depend on it. */
function buildNode(): readonly string[] {
  const client = "node-zookeeper-client";
  const folder = installed(`${client}-${NODE_CLIENT_VERSION}`, (empty) => {
    writeFileSync(join(empty, "package.json"), JSON.stringify({ private: true }));
    run("npm", ["install", "--silent", "--no-save", "--no-workspaces", `${client}@${NODE_CLIENT_VERSION}`], empty);
  });
  return [process.execPath, join(CLIENTS, "node/scenario.cjs"), join(folder, "node_modules", client)];
}

/** A scenario of ours: our own client, or plain bytes for requests that clients hide. */
function ownScenario(name: string, ...args: readonly string[]): readonly string[] {
  return [process.execPath, "--conditions=@zooid/source", join(SCENARIOS, `${name}-scenario.ts`), ...args];
}

/** Our recipes, Curator's and kazoo's, all at once. */
function buildMixed(): readonly string[] {
  return ownScenario("mixed", compileWithCurator("Contender.java"), ...kazoo("contender.py"));
}

/** The class path of one of our programs and Curator's jars. */
function compileWithCurator(source: string): string {
  const folder = join(CACHE, "curator", basename(source, ".java"));
  const pom = join(CLIENTS, "curator/pom.xml");
  const jars = installed(`curator-jars-${fingerprint(pom)}`, (empty) => {
    run("mvn", ["-q", "-f", pom, "dependency:copy-dependencies", `-DoutputDirectory=${empty}`]);
  });
  mkdirSync(folder, { recursive: true });
  compileJava(`curator/${source}`, jars, folder);
  return `${folder}:${jars}/*`;
}

/** Compiles a program of ours, and the files beside it that it uses. */
function compileJava(source: string, jars: string, folder: string): void {
  const file = join(CLIENTS, source);
  run("javac", ["-encoding", "UTF-8", "-cp", `${jars}/*`, "-sourcepath", dirname(file), "-d", folder, file]);
}

/** The folder of Apache's jars, fetched once. */
export function fetchApacheJars(...version: readonly string[]): string {
  return run(join(ROOT, "tools/fetch-apache-zookeeper.sh"), version).trim();
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
